#include "heed/models/self_attentive.h"

#include "heed/attention/losses.h"
#include "heed/autograd/ops/matrix.h"
#include "heed/autograd/ops/reduce.h"
#include "heed/autograd/ops/shape.h"

namespace heed {
namespace {

const SelfAttentiveConfig& checked(const SelfAttentiveConfig& config) {
  check_common("self-attentive", config, config.dropout);
  check_positive("self-attentive",
                 {{"hidden", config.hidden}, {"rows", config.rows}, {"gated", config.gated}, {"layer", config.layer}});
  require(config.inputs.size() <= 2, "[self-attentive] reads one text or two, not {}", config.inputs.size());
  require(config.penalty >= 0, "[self-attentive] a penalty of {} is negative", config.penalty);
  return config;
}

// Each row with the weights of its own: x [batch, rows, in], weights [rows, in, out] → [batch, rows, out].
Var row_by_row(const Var& x, const Var& weights) { return transpose(matmul(transpose(x, 0, 1), weights), 0, 1); }

}  // namespace

AttentionOptions SelfAttentiveConfig::attention_of_rows() {
  AttentionOptions options = composed_of("rows");
  options.score_width = 350;
  return options;
}

void SelfAttentiveConfig::visit(Fields& field) {
  text.visit(field);
  field("hidden", hidden, "width of the recurrent states, of each direction");
  field("rows", rows, "rows of weights, each of which reads the text in its own way");
  field("gated", gated, "of two texts: width of what a row becomes before the two are multiplied");
  field("layer", layer, "hidden units above the rows");
  field("penalty", penalty, "weight of the penalty on rows that look at the same places");
  field("dropout", dropout, "share of what the rows read, and of the layer above them, dropped in training");
  visit_attention(attention, field);
}

SelfAttentive::SelfAttentive(const Scope& scope, const SelfAttentiveConfig& config)
    : config_(checked(config)),
      words_("self-attentive", scope / "words", config, config.text),
      encoder_(scope / "encoder", config.text.embedding, config.hidden),
      pooling_("self-attentive", scope / "attention", config.attention, 2 * config.hidden, config.rows) {
  const bool pair = config.inputs.size() == 2;
  if (pair)
    for (const char* text : {"first", "second"})
      gates_.push_back(scope.parameter(std::string("gate.") + text, Shape{config.rows, 2 * config.hidden, config.gated},
                                       init::glorot()));
  layer_ = Linear(scope / "layer", config.rows * (pair ? config.gated : 2 * config.hidden), config.layer,
                  {.activation = Activation::relu});
  labels_ = Linear(scope / "labels", config.layer, config.outputs);
}

std::vector<AttentionShape> SelfAttentive::attentions() const {
  std::vector<AttentionShape> shapes;
  for (std::size_t i = 0; i < config_.inputs.size(); ++i)
    shapes.push_back(
        {.name = i == 0 ? "label.first" : "label.second", .heads = config_.rows, .columns = static_cast<int>(i)});
  return shapes;
}

Chosen SelfAttentive::forward(const std::vector<Source>& inputs, const ForwardOptions& options) const {
  const Index batch = inputs.front().batch(), rows = config_.rows;
  Chosen chosen;
  Var read;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const Source& text = inputs[i];
    const Index longest = text.longest();
    const Var annotations = encoder_(words_(text, options.random), {}, {text.lengths}).outputs;
    const Var gates = i == 0 && options.gates ? expand(options.gates, Shape{batch, rows, longest}) : Var();
    const Pooling::Result pooled = pooling_(annotations, text.lengths, gates);
    const Var own = gates_.empty() ? pooled.read : row_by_row(pooled.read, gates_[i]);
    read = i == 0 ? own : read * own;
    if (options.alignment && i == 0) chosen.alignment = reshape(mean(pooled.weights, 1), Shape{batch, 1, longest});
    if (options.trace)
      options.trace->push_back(
          {attentions()[i].name, pooled.weights.value().contiguous().reshape(Shape{batch, rows, 1, longest})});
    if (options.random && config_.penalty > 0 && rows > 1) {
      const Var penalty = scale(row_penalty(pooled.weights), static_cast<Real>(config_.penalty));
      chosen.penalty = chosen.penalty ? chosen.penalty + penalty : penalty;
    }
  }
  const Var flat = reshape(read, Shape{batch, read.size(1) * read.size(2)});
  const Var hidden = layer_(dropped(flat, config_.dropout, options.random));
  chosen.scores = labels_(dropped(hidden, config_.dropout, options.random));
  return chosen;
}

namespace {

std::unique_ptr<Config> self_attentive_config(const std::string& preset) {
  auto config = std::make_unique<SelfAttentiveConfig>();
  if (preset == "small") {
    config->hidden = 100, config->rows = 8, config->layer = 256, config->gated = 64;
    config->attention.score_width = 100;
    config->penalty = 0.1, config->text.embedding_dropout = 0.2;
  }
  return config;
}

const RegisterSystem self_attentive{{.name = "self-attentive",
                                     .summary = "several rows of weights read one text, or two that are multiplied",
                                     .paper = "Lin et al. 2017",
                                     .job = "classification",
                                     .presets = {"paper", "small"},
                                     .config = self_attentive_config,
                                     .make = make_model<SelfAttentive, SelfAttentiveConfig>,
                                     .training = {},
                                     .also = {"entailment"},
                                     .later = {"expected"}}};

}  // namespace
}  // namespace heed
