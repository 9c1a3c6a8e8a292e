#include "models/translation_cases.h"

#include "attention/composition_cases.h"
#include "heed/jobs/job.h"

namespace heed::test {
namespace {

// The options of single systems.
const std::vector<SystemVariant> kTranslationOptions{
    {"transformer", {{"norm", "pre"}}},
    {"transformer", {{"tied", "all"}}},
    {"transformer", {{"copy", "true"}, {"coverage-loss", "0.5"}, {"alignment-layer", "1"}}},
    {"abs", {{"encoder", "bow"}}},
    {"abs", {{"encoder", "conv"}, {"layers", "2"}, {"neighbours", "1"}}},
    {"abs", {{"context", "1"}, {"neighbours", "0"}}},
    {"seq2seq-lstm", {{"tied", "true"}, {"reverse-source", "false"}}},
    {"seq2seq-gru", {{"rank", "3"}, {"reset", "after"}}},
    {"seq2seq-gru", {{"rank", "0"}, {"update", "takes"}, {"tied", "true"}}},
    {"convs2s", {{"tied", "true"}, {"kernel", "2"}, {"longest", "3"}}},
    {"convs2s", {{"copy", "true"}, {"kernel", "1"}, {"coverage-loss", "0.5"}, {"hidden", "3"}}},
    {"luong", {{"input-feeding", "false"}}},
    {"luong", {{"input-feeding", "false"}, {"score", "coverage"}, {"copy", "true"}}},
    {"luong", {{"input-feeding", "false"}, {"window", "local-p"}, {"reverse-source", "false"}}},
    {"luong", {{"tied", "true"}, {"score", "dot"}, {"window", "local-m"}, {"coverage-loss", "1"}}},
    {"rnnsearch", {{"cell", "lstm"}}},
    {"rnnsearch", {{"tied", "true"}}},
    {"rnnsearch", {{"copy", "true"}}},
    {"rnnsearch", {{"query-word", "true"}, {"alignment-reads", "true"}}},
    {"rnnsearch", {{"score", "coverage"}, {"fertility", "2"}, {"coverage-loss", "1"}}},
    {"show-attend-tell", {{"attention", "none"}}},
    {"show-attend-tell", {{"attention", "hard"}, {"expected", "true"}}},
    {"show-attend-tell", {{"annotation", "3"}, {"gate", "false"}, {"tied", "false"}, {"places", "true"}}},
    {"show-attend-tell", {{"annotation", "3"}, {"normalised", "true"}, {"focus", "0.1"}, {"region-dropout", "0.5"}}},
    {"show-attend-tell", {{"doubly-stochastic", "0"}, {"coverage-loss", "1"}, {"query-word", "true"}}},
    {"show-attend-tell", {{"read-mean", "true"}}},
    {"listener", {{"cell", "lstm"}, {"halvings", "0"}}},
    {"listener", {{"halving", "drop"}, {"ctc-weight", "0.5"}}},
    {"listener", {{"masks", "1"}, {"mask-features", "3"}, {"mask-frames", "2"}}},
};

// Systems that read one input and write words.
std::vector<const System*> writers() {
  std::vector<const System*> list;
  for (const System& system : systems()) {
    const Job& job = job_named(system.job);
    if (job.inputs.size() == 1 && is_text(job.output.kind)) list.push_back(&system);
  }
  return list;
}

}  // namespace

std::vector<SystemVariant> every_system() {
  std::vector<SystemVariant> list;
  for (const System* system : writers()) list.push_back({system->name, {}});
  return list;
}

std::vector<SystemVariant> every_variant() {
  std::vector<SystemVariant> list = every_system();
  list.insert(list.end(), kTranslationOptions.begin(), kTranslationOptions.end());
  for (const System* system : writers())
    if (has_field(*system, "score")) add_parts(system->name, list);
  return list;
}

std::unique_ptr<Config> tiny_config(const SystemVariant& variant, Index width) {
  auto config = system_named(variant.system).config("small");
  make_tiny(*config, variant, width);
  config->inputs[0] = kSourceWords, config->outputs = kTargetWords;
  return config;
}

std::unique_ptr<Writer> make_writer(const std::string& system, const Scope& scope, const Config& config) {
  std::unique_ptr<Model> model = system_named(system).make(scope, config);
  require(dynamic_cast<Writer*>(model.get()) != nullptr, "[test] {} writes no words", system);
  return std::unique_ptr<Writer>(static_cast<Writer*>(model.release()));
}

TinyModel::TinyModel(const SystemVariant& variant, std::uint64_t seed)
    : parameters(seed), model(make_writer(variant.system, Scope(parameters), *tiny_config(variant))) {
  randomise(parameters, seed, 0.4);
}

Source sentences(const std::vector<std::vector<std::int32_t>>& words, std::int32_t padding) {
  std::size_t longest = 0;
  for (const auto& each : words) longest = std::max(longest, each.size());
  const Index batch = static_cast<Index>(words.size()), width = static_cast<Index>(longest);
  Source result{Ids(Shape{batch, width}, padding), Ids(Shape{batch})};
  for (std::size_t b = 0; b < words.size(); ++b) {
    std::copy(words[b].begin(), words[b].end(), result.words.data() + static_cast<Index>(b) * width);
    result.lengths.data()[b] = static_cast<std::int32_t>(words[b].size());
  }
  return result;
}

Source as_read_by(const SystemVariant& variant, const Source& words) {
  if (is_text(job_named(system_named(variant.system).job).inputs.front().kind)) return words;
  const Tensor vectors = random_tensor(Shape{kSourceWords, kSourceWords}, 7);  // of each word
  Source result{.lengths = words.lengths, .features = Tensor(Shape{words.batch(), words.longest(), kSourceWords})};
  for (Index i = 0; i < words.words.size(); ++i)
    std::copy_n(vectors.data() + words.words.data()[i] * kSourceWords, kSourceWords,
                result.features.data() + i * kSourceWords);
  return result;
}

Ids expected_after(const Source& previous) {
  Ids next(previous.words.shape(), -1);
  const Index n = previous.longest();
  for (Index b = 0; b < previous.batch(); ++b) {
    const Index length = previous.lengths.data()[b];
    for (Index t = 0; t < length; ++t)
      next.data()[b * n + t] = t + 1 < length ? previous.words.data()[b * n + t + 1] : 2;
  }
  return next;
}

Source some_sources(std::int32_t padding) { return sentences({{3, 7, 4, 9, 2}, {2}, {5, 6, 2}}, padding); }
Source some_previous(std::int32_t padding) { return sentences({{1, 4, 8}, {1, 9, 10, 3}, {1}}, padding); }

}  // namespace heed::test
