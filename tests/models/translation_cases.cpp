#include "models/translation_cases.h"

#include <fmt/ranges.h>

#include <cctype>
#include <ostream>
#include <set>

#include "attention/composition_cases.h"
#include "heed/attention/parts.h"
#include "heed/jobs/job.h"

namespace heed::test {
namespace {

class FieldNames final : public Fields {
 public:
  std::set<std::string> names;
  void operator()(const char* name, Index&, const char*) override { names.insert(name); }
  void operator()(const char* name, double&, const char*) override { names.insert(name); }
  void operator()(const char* name, bool&, const char*) override { names.insert(name); }
  void operator()(const char* name, std::string&, const char*) override { names.insert(name); }
};

std::set<std::string> fields_of(const System& system) {
  FieldNames found;
  system.config("small")->visit(found);
  return found.names;
}

// Fields by name; every setting must be there.
class Setting final : public Fields {
 public:
  Setting(std::map<std::string, std::string> settings, Index width) : settings_(std::move(settings)), width_(width) {}
  void operator()(const char* name, Index& value, const char*) override {
    static const std::map<std::string, Index> tiny{{"feed-forward", 5}, {"layers", 2},      {"decoder-layers", 2},
                                                   {"heads", 2},        {"rank", 3},        {"longest", 9},
                                                   {"half-width", 2},   {"filters", 2},     {"relative", 2},
                                                   {"neighbours", 3},   {"score-width", 3}, {"filter-width", 3}};
    for (const char* wide : {"embedding", "hidden", "maxout", "width"})
      if (std::string(name) == wide) value = width_;
    if (const auto small = tiny.find(name); small != tiny.end()) value = small->second;
    if (const auto text = take(name)) value = std::stoll(*text);
  }
  void operator()(const char* name, double& value, const char*) override {
    if (std::string(name) == "dropout") value = 0;
    if (const auto text = take(name)) value = std::stod(*text);
  }
  void operator()(const char* name, bool& value, const char*) override {
    if (const auto text = take(name)) value = *text == "true";
  }
  void operator()(const char* name, std::string& value, const char*) override {
    if (const auto text = take(name)) value = *text;
  }
  void finish(const std::string& system) const {
    require(settings_.empty(), "[test] {} has no field {}", system, settings_.begin()->first);
  }

 private:
  std::optional<std::string> take(const char* name) {
    const auto found = settings_.find(name);
    if (found == settings_.end()) return {};
    std::string text = found->second;
    settings_.erase(found);
    return text;
  }
  std::map<std::string, std::string> settings_;
  Index width_;
};

// The options of single systems.
const std::vector<TranslationVariant> kOptions{
    {"transformer", {{"norm", "pre"}}},
    {"transformer", {{"tied", "all"}}},
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
    {"rnnsearch", {{"score", "coverage"}, {"fertility", "2"}, {"coverage-loss", "1"}}},
};

void add_parts(const std::string& system, std::vector<TranslationVariant>& list) {
  for (const auto& score : PartRegistry<Score>::entries()) list.push_back({system, {{"score", score.name}}});
  for (const auto& window : PartRegistry<Window>::entries()) list.push_back({system, {{"window", window.name}}});
  for (const auto& normaliser : PartRegistry<Normaliser>::entries())
    list.push_back({system, {{"normaliser", normaliser.name}}});
}

}  // namespace

std::string TranslationVariant::text() const {
  std::string result = system;
  for (const auto& [name, value] : settings) result += fmt::format(" {}={}", name, value);
  return result;
}
std::string TranslationVariant::name() const {
  std::string result = text();
  for (char& c : result)
    if (!std::isalnum(static_cast<unsigned char>(c))) c = '_';
  return result;
}
std::ostream& operator<<(std::ostream& out, const TranslationVariant& variant) { return out << variant.text(); }

std::vector<TranslationVariant> every_system() {
  std::vector<TranslationVariant> list;
  for (const System* system : systems_of(job_named("translation"))) list.push_back({system->name, {}});
  return list;
}

std::vector<TranslationVariant> every_variant() {
  std::vector<TranslationVariant> list = every_system();
  list.insert(list.end(), kOptions.begin(), kOptions.end());
  for (const System* system : systems_of(job_named("translation")))
    if (fields_of(*system).contains("score")) add_parts(system->name, list);
  return list;
}

std::unique_ptr<Config> tiny_config(const TranslationVariant& variant, Index width) {
  auto config = system_named(variant.system).config("small");
  Setting setting(variant.settings, width);
  config->visit(setting);
  setting.finish(variant.system);
  config->inputs[0] = kSourceWords, config->outputs = kTargetWords;
  return config;
}

std::unique_ptr<Writer> make_writer(const std::string& system, const Scope& scope, const Config& config) {
  std::unique_ptr<Model> model = system_named(system).make(scope, config);
  require(dynamic_cast<Writer*>(model.get()) != nullptr, "[test] {} writes no words", system);
  return std::unique_ptr<Writer>(static_cast<Writer*>(model.release()));
}

TinyModel::TinyModel(const TranslationVariant& variant, std::uint64_t seed)
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
