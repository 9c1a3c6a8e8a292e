#include "heed/models/show_attend_tell.h"

#include <map>
#include <vector>

#include "heed/attention/losses.h"
#include "heed/autograd/ops/elementwise.h"
#include "heed/autograd/ops/reduce.h"
#include "heed/autograd/ops/shape.h"
#include "heed/models/image_sense.h"

namespace heed {
namespace {

ShowAttendTellConfig checked(const ShowAttendTellConfig& config) {
  const char* model = "show-attend-tell";
  check_common(model, config, config.dropout);
  check_positive(model, {{"embedding", config.embedding}, {"hidden", config.hidden}});
  check_one_of(model, "attention", config.looking, {"soft", "hard", "none"});
  check_sampling(model, config.losses);
  require(config.annotation >= 0, "[{}] annotation must not be negative: {}", model, config.annotation);
  require(config.doubly_stochastic >= 0, "[{}] doubly-stochastic must not be negative: {}", model,
          config.doubly_stochastic);
  require(config.region_dropout >= 0 && config.region_dropout < 1, "[{}] region-dropout must be in [0, 1): {}", model,
          config.region_dropout);
  require(config.focus >= 0, "[{}] focus must not be negative: {}", model, config.focus);
  return config;
}

AttentionOptions attention_of(const ShowAttendTellConfig& config) {
  AttentionOptions options = config.attention;
  if (config.looking == "hard") options.normaliser = "hard";
  if (config.looking == "none") options.score = "uniform", options.window = "global", options.normaliser = "softmax";
  return options;
}

// The mean over the real regions of each image: [batch, m, width] → [batch, width].
Var mean_region(const Var& regions, const Ids& lengths) {
  const Index batch = regions.size(0), m = regions.size(1);
  Tensor shares(Shape{batch, 1, m}, Real{0});
  for (Index b = 0; b < batch; ++b) {
    const Index length = lengths.at({b});
    std::fill_n(shares.data() + b * m, length, Real{1} / static_cast<Real>(length));
  }
  return reshape(matmul(Var(shares), regions), Shape{batch, regions.size(2)});
}

// The words that there are, each once, and the place of each word of the row among them.
struct Distinct {
  Ids words, places;
};
Distinct distinct(const Ids& row) {
  const Ids all = row.contiguous();
  std::map<std::int32_t, std::int32_t> known;
  std::vector<std::int32_t> words;
  Distinct result{{}, Ids(all.shape())};
  for (Index i = 0; i < all.size(); ++i) {
    const auto [at, is_new] = known.try_emplace(all.data()[i], static_cast<std::int32_t>(words.size()));
    if (is_new) words.push_back(at->first);
    result.places.data()[i] = at->second;
  }
  result.words = Ids(Shape{static_cast<Index>(words.size())}, words);
  return result;
}

// The pixels of an encoder that is trained, region by region, so that what is read has as many places as what is looked
// at: [side, side, 3] is [grid, patch, grid, patch·3], of which the two middle axes change places.
Index checked_patch(const EyePlan& plan) {
  require(plan.picture % plan.grid == 0,
          "[show-attend-tell] a picture of {} pixels on a side cannot be parted into {} x {} equal regions",
          plan.picture, plan.grid, plan.grid);
  return plan.picture / plan.grid;
}
Var picture_of(const Var& regions, const EyePlan& plan) {  // [batch, grid², patch²·3] → [batch, side, side, 3]
  const Index batch = regions.size(0), grid = plan.grid, patch = checked_patch(plan), side = plan.picture;
  require(regions.size(1) == grid * grid, "[show-attend-tell] an encoder that is trained sees {} regions, not {}",
          grid * grid, regions.size(1));
  return reshape(transpose(reshape(regions, Shape{batch, grid, grid, patch, patch * 3}), 2, 3),
                 Shape{batch, side, side, 3});
}
class PatchSense final : public ImageSense {
 public:
  explicit PatchSense(const EyeConfig& config) : ImageSense(config), patch_(checked_patch(plan())) {}
  Index width() const override { return patch_ * patch_ * 3; }
  Featured operator()(const Value& value) const override {
    Featured seen = ImageSense::operator()(value);
    const Index grid = plan().grid;
    seen.features = seen.features.reshape(Shape{grid, patch_, grid, patch_ * 3})
                        .transpose(1, 2)
                        .contiguous()
                        .reshape(Shape{grid * grid, width()});
    return seen;
  }

 private:
  Index patch_;  // pixels on a side of a region
};

}  // namespace

void ShowAttendTellConfig::visit(Fields& field) {
  field("embedding", embedding, "width of a word's vector");
  field("hidden", hidden, "width of the LSTM's state");
  field("annotation", annotation, "width of a learned layer over the regions (0: they are read as they are)");
  field("normalised", normalised, "regions are normalised, so that the state has a say in where to look");
  field("dropout", dropout, "share of words, states and output dropped in training");
  field("places", places, "a learned vector of its place is added to each region");
  field("query-word", query_word, "the last word, too, says where to look, not the state before it alone");
  field("read-mean", read_mean, "the mean of the regions, too, is read before every word, not the look alone");
  field("gate", gate, "a gate decides at every word how much of the image is read");
  field("tied", tied, "the output's weights are the words' vectors");
  field("doubly-stochastic", doubly_stochastic, "weight of the penalty that every region be looked at once (0: none)");
  field("region-dropout", region_dropout,
        "share of the regions' numbers dropped in training, the same ones in every region of a picture");
  field("focus", focus,
        "weight of the entropy of every look: the more, the fewer regions it is at (0: as many as helps)");
  field("attention", looking,
        "soft (as score, window and normaliser say), hard (one sampled region) or none (the mean)");
  eye.visit(field);
  losses.visit(field);
  losses.visit_sampling(field);
  visit_attention(attention, field);
}

ShowAttendTell::ShowAttendTell(const Scope& scope, const ShowAttendTellConfig& config)
    : config_(checked(config)),
      plan_(config.eye),
      width_(config.annotation > 0 ? config.annotation
             : plan_.trained       ? plan_.width()
                                   : config.inputs[0]),
      // E y is part of the deep output: where the output is tied to it, larger vectors make words foretell themselves.
      target_(scope / "target", config.outputs, config.embedding, init::normal(0.1)),
      mean_(scope / "start" / "mean", width_, config.hidden, {.activation = Activation::relu}),
      start_(scope / "start", config.hidden, 2 * config.hidden, {.activation = Activation::tanh}),
      attention_(scope / "attention", attention_of(config), config.hidden + (config.query_word ? config.embedding : 0),
                 width_),
      decoder_(scope / "decoder", width_, config.hidden),
      words_(scope / "decoder" / "words", config.embedding, 4 * config.hidden, {.bias = false}),
      state_readout_(scope / "readout" / "state", config.hidden, config.embedding),
      context_readout_(scope / "readout" / "context", width_, config.embedding, {.bias = false}),
      output_(scope / "output", config.embedding, target_, config.tied, init::glorot()) {
  if (plan_.trained) eye_ = Eye(scope / "eye", config.eye);
  if (config.annotation > 0)
    annotation_ = Linear(scope / "annotation", plan_.trained ? plan_.width() : config.inputs[0], width_,
                         {.activation = Activation::relu});
  if (config.normalised) norm_ = LayerNorm(scope / "norm", width_);
  if (config.places) places_ = scope.parameter("places", Shape{plan_.regions(), width_}, init::normal(0.1));
  if (config.read_mean) {
    mean_gates_ = Linear(scope / "decoder" / "mean", width_, 4 * config.hidden, {.bias = false});
    mean_readout_ = Linear(scope / "readout" / "mean", width_, config.embedding, {.bias = false});
  }
  if (config.gate) gate_ = Linear(scope / "gate", config.hidden, 1, {.activation = Activation::sigmoid});
}

Var ShowAttendTell::regions_of(const Source& source) const {
  require(source.features && source.features.rank() == 3 && source.features.size(2) == config_.inputs[0],
          "[show-attend-tell] reads regions of {} numbers, not {}", config_.inputs[0], source.features.shape());
  Var regions(source.features);
  if (plan_.trained) regions = eye_(picture_of(regions, plan_));
  if (config_.annotation > 0) regions = annotation_(regions);
  if (config_.normalised) regions = norm_(regions);
  const Index m = regions.size(1);
  require(!config_.places || m <= plan_.regions(), "[show-attend-tell] has places for {} regions, not {}",
          plan_.regions(), m);
  if (config_.places) regions = regions + slice(places_, 0, 0, m);
  return regions;
}

ShowAttendTell::Encoded ShowAttendTell::encode(const Source& source, Random* random) const {
  Var regions = regions_of(source);
  if (random && config_.region_dropout > 0) {
    // Were each region to lose others, their mean would hardly notice.
    const Var ones(Tensor(Shape{regions.size(0), 1, regions.size(2)}, Real{1}));
    regions = regions * dropped(ones, config_.region_dropout, random);
  }
  const Var mean = mean_region(regions, source.lengths), start = start_(mean_(mean));  // start: [batch, 2·hidden]
  const Index hidden = config_.hidden;
  return {attention_.memory(regions, source.lengths),
          {slice(start, 1, 0, hidden), slice(start, 1, hidden, 2 * hidden)},
          config_.read_mean ? mean_gates_(mean) : Var(),
          config_.read_mean ? mean_readout_(mean) : Var()};
}

ShowAttendTell::Looked ShowAttendTell::advance(const Encoded& encoded, State& state, const Var& word,
                                               const Var& word_gates, Random* random) const {
  const Var before = state.cell.hidden, query = config_.query_word ? concat({before, word}, 1) : before;
  const Index batch = before.size(0);
  SourceAttention::Result attended =
      attention_(reshape(query, Shape{batch, 1, query.size(1)}), state.position, encoded.memory, state.past, random);
  const Var read = reshape(attended.read, Shape{batch, width_});
  const Var context = config_.gate ? gate_(before) * read : read;
  state = {decoder_.step(context, state.cell, word_gates), attended.past, state.position + 1};
  return {std::move(attended), context};
}

WordScores ShowAttendTell::predicted(const Var& embedded, const Var& states, const Var& contexts,
                                     Random* random) const {
  const Var deep =
      tanh(embedded + state_readout_(dropped(states, config_.dropout, random)) + context_readout_(contexts));
  return output_(dropped(deep, config_.dropout, random));
}

TeacherForced ShowAttendTell::forward(const Source& source, const Source& previous,
                                      const ForwardOptions& options) const {
  Encoded encoded = encode(source, options.random);
  repeat_for_texts(encoded, source, previous);
  encoded.memory.gates = options.gates;
  const Var embedded = dropped(target_(real_words_by_time(previous)), config_.dropout, options.random);
  Var gates = word_gates(embedded);  // [n, batch, 4·hidden]
  if (config_.read_mean) gates = gates + encoded.mean_gates;
  State state = begin(encoded);
  std::vector<Var> states, contexts;  // [batch, ·] each
  AttentionRecord record;
  for (Index t = 0; t < previous.longest(); ++t) {
    const Looked looked =
        advance(encoded, state, config_.query_word ? at(embedded, 0, t) : Var(), at(gates, 0, t), options.random);
    record.add(looked.attended);
    states.push_back(state.cell.hidden);
    contexts.push_back(looked.context);
  }
  TeacherForced result;
  if (options.words) {
    Var words = transpose(embedded, 0, 1);
    if (config_.read_mean) words = words + reshape(encoded.mean_readout, Shape{previous.batch(), 1, config_.embedding});
    result.words = predicted(words, stack(states, 1), stack(contexts, 1), options.random);
  }
  if (options.alignment) result.alignment = record.alignment();
  if (options.trace) options.trace->push_back(record.traced("decoder.source"));
  if (options.random) {
    const auto add = [&](const Var& term) { result.penalty = result.penalty ? result.penalty + term : term; };
    add_attention_penalty(config_.losses, record, previous, options, result);
    if (config_.doubly_stochastic > 0 && config_.looking != "none") {
      const Index batch = previous.batch(), n = previous.longest();
      const Var looks = record.alignment() * Var(real_places(previous).reshape(Shape{batch, n, 1}));
      add(scale(doubly_stochastic_penalty(looks, padding_mask(encoded.memory.lengths, encoded.memory.size())),
                static_cast<Real>(config_.doubly_stochastic)));
    }
    if (config_.focus > 0 && config_.looking == "soft")
      add(scale(sum(look_entropy(record.alignment()) * Var(real_places(previous))), static_cast<Real>(config_.focus)));
  }
  return result;
}

Decoding::Step ShowAttendTell::step(const Encoded& encoded, State& state, const Ids& previous) const {
  const Index rows = previous.size();
  // Hypotheses of a step have few words between them.
  const auto [words, places] = distinct(previous);
  const Var vectors = target_(words), embedded = gather(vectors, 0, places);
  Var gates = gather(word_gates(vectors), 0, places), read = embedded;
  if (config_.read_mean) gates = gates + encoded.mean_gates, read = read + encoded.mean_readout;
  const Looked looked = advance(encoded, state, embedded, gates, nullptr);
  const Var logits = predicted(read, state.cell.hidden, looked.context, nullptr).logits();
  return {logits.value(), looked.attended.weights.value().reshape(Shape{rows, encoded.memory.size()})};
}

namespace {

std::unique_ptr<Config> show_attend_tell_config(const std::string& preset) {
  auto config = std::make_unique<ShowAttendTellConfig>();
  if (preset == "small") {
    config->embedding = 256, config->hidden = 512, config->attention.score_width = 256;
    config->tied = true;
    config->doubly_stochastic = 0;  // a caption has fewer words than the grid has regions: the penalty flattens looks
  }
  return config;
}

const RegisterSystem show_attend_tell{
    {.name = "show-attend-tell",
     .summary = "an LSTM that looks at the regions of an image before every word",
     .paper = "Xu et al. 2015",
     .job = "captioning",
     .presets = {"paper", "small"},
     .config = show_attend_tell_config,
     .make = make_model<ShowAttendTell, ShowAttendTellConfig>,
     .training = {{"learning-rate", "0.001"}, {"schedule", "plateau"}, {"beta2", "0.999"}, {"label-smoothing", "0"}},
     .later = {"query-word", "read-mean", "normalised", "reward-weight", "entropy-weight", "baseline", "focus",
               "region-dropout"},
     .running = {"expected"},
     .sense = [](const Config& config, std::size_t) -> std::unique_ptr<Sense> {
       const EyeConfig& eye = dynamic_cast<const ShowAttendTellConfig&>(config).eye;
       if (EyePlan(eye).trained) return std::make_unique<PatchSense>(eye);
       return std::make_unique<ImageSense>(eye);
     }}};

}  // namespace
}  // namespace heed
