#include "heed/models/decoder_parts.h"

#include <algorithm>
#include <cmath>

#include "heed/autograd/ops/embedding.h"
#include "heed/autograd/ops/reduce.h"
#include "heed/autograd/ops/shape.h"
#include "heed/autograd/ops/softmax.h"
#include "heed/autograd/tensor_math.h"
#include "heed/base/spelling.h"
#include "heed/data/symbols.h"

namespace heed {
namespace {

void check_sentences(const Source& sentences) {
  require(sentences.words.rank() == 2 && (sentences.lengths.shape() == Shape{sentences.batch()}),
          "[translation] words {} and lengths {} are not [batch, longest] and [batch]", sentences.words.shape(),
          sentences.lengths.shape());
}

// The words that follow: [y1 .. yn, end] of [begin, y1 .. yn]; the unknown word in the padding.
Ids following(const Source& previous) {
  Ids next(previous.words.shape(), kUnknown);
  const Ids ids = previous.words.contiguous(), lengths = previous.lengths.contiguous();
  const Index n = previous.longest();
  for (Index b = 0; b < previous.batch(); ++b) {
    const Index length = lengths.data()[b];
    for (Index t = 0; t + 1 < length; ++t) next.data()[b * n + t] = ids.data()[b * n + t + 1];
    if (length > 0) next.data()[b * n + length - 1] = kEnd;
  }
  return next;
}

// log p(y | s) of each sentence: [batch].
Tensor rewards_of(const WordScores& scores, const Source& previous) {
  const NoGradient off;
  const Var words = pick(log_softmax(scores.logits()), following(previous)) * Var(real_places(previous));
  return sum(words, 1).value().contiguous();
}

Reward summed(const Tensor& rewards, const Ids& lengths) {
  Reward reward;
  for (const Real each : rewards.values()) reward.total += static_cast<double>(each);
  for (const std::int32_t length : lengths.contiguous().values()) reward.words += length;
  return reward;
}

// Each sentence's reward less its baseline, for every step of it: [batch, n]. `per_word`: of the moving baseline.
Tensor advantages(const Tensor& rewards, const Source& previous, std::optional<double> per_word) {
  const Index batch = previous.batch(), n = previous.longest();
  const Ids lengths = previous.lengths.contiguous();
  const double total = summed(rewards, lengths).total;
  Tensor result(Shape{batch, n});
  for (Index b = 0; b < batch; ++b) {
    const double own = static_cast<double>(rewards.data()[b]);
    const double others = batch > 1 ? (total - own) / static_cast<double>(batch - 1) : 0;
    const double baseline = per_word ? *per_word * static_cast<double>(lengths.data()[b]) : others;
    std::fill_n(result.data() + b * n, n, static_cast<Real>(own - baseline));
  }
  return result;
}

}  // namespace

Ids real_words(const Source& sentences) {
  check_sentences(sentences);
  Ids words = sentences.words.copy();
  const Ids lengths = sentences.lengths.contiguous();
  const Index longest = sentences.longest();
  for (Index b = 0; b < sentences.batch(); ++b) {
    const Index length = lengths.data()[b];
    require(length >= 0 && length <= longest, "[translation] a length of {} is outside 0..{}", length, longest);
    std::fill(words.data() + b * longest + length, words.data() + (b + 1) * longest, kUnknown);
  }
  return words;
}

Ids real_words_by_time(const Source& sentences) { return real_words(sentences).transpose(0, 1).contiguous(); }

Tensor real_places(const Source& sentences) {
  const Mask mask = padding_mask(sentences.lengths.contiguous(), sentences.longest());
  return as_numbers(mask, mask.shape());
}

Var dropped(const Var& x, double rate, Random* random) {
  return random && rate > 0 ? dropout(x, rate, random->next()) : x;
}

Initialiser uniform_or(double range, const Initialiser& otherwise) {
  return range > 0 ? init::uniform(-range, range) : otherwise;
}
Initialiser normal_or(double deviation, const Initialiser& otherwise) {
  return deviation > 0 ? init::normal(deviation) : otherwise;
}

void check_common(const char* model, const Config& config, double dropout) {
  require(config.inputs[0] > 0 && config.outputs > 0, "[{}] vocabularies of {} and {} words", model, config.inputs[0],
          config.outputs);
  check_dropout(model, dropout);
}

void check_dropout(const char* model, double dropout) {
  require(dropout >= 0 && dropout < 1, "[{}] a dropout of {} is outside 0..1", model, dropout);
}

void check_one_of(const char* model, const char* field, const std::string& value,
                  const std::vector<std::string>& known) {
  require(std::find(known.begin(), known.end(), value) != known.end(), "[{}] {} cannot be {}{}", model, field, value,
          did_you_mean(value, known));
}

void check_positive(const char* model, std::initializer_list<std::pair<const char*, Index>> fields) {
  for (const auto& [name, value] : fields) require(value > 0, "[{}] {} must be positive, not {}", model, name, value);
}

void visit_attention(AttentionOptions& options, Fields& field) {
  const std::vector<std::string> of_the_model{"query-width", "key-width", "value-width", "heads", "rows"};
  options.visit([&](const char* name, auto& value, const char* help) {
    if (std::find(of_the_model.begin(), of_the_model.end(), name) == of_the_model.end()) field(name, value, help);
  });
}

WordOutput::WordOutput(const Scope& scope, Index in, const Embedding& target, bool tied, const Initialiser& initialise)
    : tied_(tied) {
  const Index vocabulary = target.table().size(0), width = target.table().size(1);
  require(!tied || in == width,
          "[output] the words' vectors of width {} cannot be the output's weights of width {}; give both one width, or "
          "set tied to false",
          width, in);
  weight_ = tied ? target.table() : scope.parameter("weight", Shape{in, vocabulary}, initialise, Use::factor);
  bias_ = scope.parameter("bias", Shape{vocabulary}, init::zeros());
}

SourceAttention::SourceAttention(const Scope& scope, AttentionOptions options, Index query_width,
                                 Index annotation_width)
    : maps_keys_(score_named(options.score).widths == Widths::equal && query_width != annotation_width) {
  options.query_width = query_width;
  options.key_width = maps_keys_ ? query_width : annotation_width;
  options.value_width = annotation_width;
  options.heads = options.rows = 1;
  if (maps_keys_) key_map_ = Linear(scope / "keys", annotation_width, query_width, {.bias = false});
  attention_ = std::make_shared<const Attention>(scope, options);
}

Memory SourceAttention::memory(const Var& annotations, const Var& values, const Ids& lengths) const {
  return attention_->memory(maps_keys_ ? key_map_(annotations) : annotations, values, lengths);
}

SourceAttention::Result SourceAttention::operator()(const Var& queries, Index position, const Memory& memory,
                                                    const Past& past, Random* random, bool whole) const {
  const Index batch = queries.size(0), n = queries.size(1);
  Query query;
  query.vectors = queries;
  query.position = position;
  query.past = &past;
  query.training = random != nullptr;
  query.weights = true;  // they are taken in every call
  query.whole = whole;
  if (random) query.key = random->next(), query.batch_key = random->key();
  const Attended attended = (*attention_)(query, memory);
  // A score without queries gives all of them the same row.
  const auto rows = [&](const Var& x) {
    const Var one_head = reshape(x, Shape{batch, x.size(2), x.size(3)});
    return x.size(2) == n ? one_head : expand(one_head, Shape{batch, n, x.size(3)});
  };
  Result result{rows(attended.read), rows(attended.weights), attended.past, {}, {}};
  if (attended.sampled.log_probability) {
    result.log_probability = reshape(attended.sampled.log_probability, Shape{batch, n});
    result.entropy = reshape(attended.sampled.entropy, Shape{batch, n});
  }
  return result;
}

void AttentionRecord::add(const SourceAttention::Result& result) {
  weights.push_back(result.weights);
  if (result.log_probability) sampled.push_back({steps, result.log_probability, result.entropy});
  steps += result.weights.size(1);
}

Var AttentionRecord::alignment() const { return weights.size() == 1 ? weights[0] : concat(weights, 1); }

AttentionOfBatch AttentionRecord::traced(std::string name) const {
  const Tensor all = alignment().value().contiguous();
  return {std::move(name), all.reshape(Shape{all.size(0), 1, all.size(1), all.size(2)})};
}

void AttentionLosses::visit(Fields& field) {
  field("coverage-loss", coverage, "weight of the loss of looking twice (See et al. 2017; 0: none)");
}

void AttentionLosses::visit_sampling(Fields& field) {
  field("reward-weight", sampling.reward_weight, "weight of what hard attention learns from the words' probability");
  field("entropy-weight", sampling.entropy_weight, "weight of the entropy of hard attention, which keeps it looking");
  field(
      "baseline", baseline,
      "what a sentence's probability is compared with: moving (mean of the batches before) or batch (other sentences)");
}

void check_sampling(const char* model, const AttentionLosses& losses) {
  check_one_of(model, "baseline", losses.baseline, {"moving", "batch"});
  require(losses.sampling.reward_weight >= 0 && losses.sampling.entropy_weight >= 0,
          "[{}] reward-weight and entropy-weight must not be negative: {} and {}", model, losses.sampling.reward_weight,
          losses.sampling.entropy_weight);
}

void add_attention_penalty(const AttentionLosses& losses, const AttentionRecord& record, const Source& previous,
                           const ForwardOptions& options, TeacherForced& result) {
  const auto add = [&](const Var& term) { result.penalty = result.penalty ? result.penalty + term : term; };
  const Tensor real = real_places(previous);
  if (losses.coverage > 0) {
    const Var weights = record.alignment();
    const Index n = weights.size(1);
    Tensor earlier(Shape{n, n}, Real{0});  // row t has ones for the steps before t
    for (Index t = 0; t < n; ++t) std::fill_n(earlier.data() + t * n, t, Real{1});
    const Var looked_twice = coverage_loss(weights, matmul(Var(earlier), weights));
    add(scale(sum(looked_twice * Var(real)), static_cast<Real>(losses.coverage)));
  }
  if (record.sampled.empty()) return;
  const Tensor rewards = rewards_of(result.words, previous);
  result.reward = summed(rewards, previous.lengths);
  Tensor advantage =
      advantages(rewards, previous, losses.baseline == "moving" ? options.baseline : std::optional<double>());
  if (options.row_weights) advantage = multiply(advantage, options.row_weights.reshape(Shape{previous.batch(), 1}));
  for (const AttentionRecord::Sampled& each : record.sampled) {
    const Index end = each.first + each.log_probability.size(1);
    const Var mask(real.slice(1, each.first, end).contiguous());
    add(reinforce_loss(each.log_probability * mask, each.entropy * mask,
                       advantage.slice(1, each.first, end).contiguous(), 0, losses.sampling));
  }
}

Copying::Copying(const char* model, const Scope& scope, Index features, const Config& config)
    : gate_(scope, features, 1, {.activation = Activation::sigmoid}), vocabulary_(config.outputs) {
  require(config.inputs[0] == config.outputs, "[{}] copying needs one vocabulary for both sides, not {} and {} words",
          model, config.inputs[0], config.outputs);
}

CopiedSource Copying::source(const Source& source) const {
  if (!source.copies) return {real_words(source), vocabulary_};
  return {real_words({.words = source.copies, .lengths = source.lengths}), source.extended};
}

WordScores Copying::operator()(const Var& features, const WordScores& generator, const Var& weights,
                               const CopiedSource& source) const {
  const Var gate = gate_(features);
  return {generator, {reshape(gate, Shape{gate.size(0), gate.size(1)}), weights, source.words, source.extended}};
}

}  // namespace heed
