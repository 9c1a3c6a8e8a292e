#include "models/chooser_cases.h"

#include <algorithm>
#include <ostream>

#include "attention/composition_cases.h"
#include "heed/jobs/job.h"
#include "models/translation_cases.h"

namespace heed::test {
namespace {

// The options of single systems.
const std::vector<ChooserVariant> kOptions{
    {{"han", {{"sentence", "2"}}}, 1},
    {{"han", {{"frozen", "true"}}}, 1},
    {{"self-attentive", {{"rows", "1"}}}, 1},
    {{"self-attentive", {{"rows", "3"}, {"penalty", "0"}}}, 2},
    {{"bag", {{"ngrams", "1"}}}, 1},
    {{"bag", {{"ngrams", "3"}, {"buckets", "5"}}}, 1},
    {{"rocktaschel", {{"reading", "conditional"}}}, 2},
    {{"rocktaschel", {{"reading", "attention"}}}, 2},
    {{"rocktaschel", {{"reading", "attention"}, {"two-way", "true"}}}, 2},
    {{"rocktaschel", {{"two-way", "true"}}}, 2},
    {{"rocktaschel", {{"shared", "true"}, {"score", "dot"}}}, 2},
    {{"rocktaschel", {{"memory", "words"}}}, 2},
    {{"rocktaschel", {{"reading", "match"}}}, 2},
    {{"rocktaschel", {{"reading", "match"}, {"shared", "true"}}}, 2},
    {{"rocktaschel", {{"reading", "match"}, {"memory", "words"}, {"two-way", "true"}}}, 2},
    {{"rocktaschel", {{"frozen", "false"}, {"score", "scaled-dot"}}}, 2},
    {{"as-reader", {{"answer-from", "options"}}}, 2, true},
    {{"aoa", {{"answer-from", "options"}}}, 2, true},
};

// Parts that remember a step, need a step or sample have no place where a whole text is read at once.
bool reads_at_once(const SystemVariant& variant) {
  for (const auto& [name, value] : variant.settings)
    for (const char* steps : {"location", "location-aware", "coverage", "word-by-word", "local-m", "local-p", "median",
                              "causal", "recent", "monotonic", "hard", "sliding", "restricted"})
      if ((name == "score" || name == "window" || name == "normaliser") && value == steps) return false;
  return true;
}

// The context score has one row.
SystemVariant with_one_row(SystemVariant variant) {
  if (variant.system == "self-attentive" && variant.settings["score"] == "context") variant.settings["rows"] = "1";
  if (variant.settings["score"].empty()) variant.settings.erase("score");
  return variant;
}

}  // namespace

std::ostream& operator<<(std::ostream& out, const ChooserVariant& variant) {
  return out << variant.variant << " of " << variant.inputs;
}

std::string test_name(const ChooserVariant& variant) {
  return variant.variant.name() + (variant.inputs == 1 ? "" : "_pair");
}

std::vector<ChooserVariant> every_chooser_variant() {
  std::vector<ChooserVariant> list;
  for (const char* job : {"classification", "entailment", "reading"})
    for (const System* system : systems_of(job_named(job))) {
      const std::size_t inputs = job_named(job).inputs.size();
      list.push_back({{system->name, {}}, inputs, job_named(job).gives_choice()});
      if (!has_field(*system, "score")) continue;
      std::vector<SystemVariant> parts;
      add_parts(system->name, parts);
      for (const SystemVariant& part : parts)
        if (system->name == "rocktaschel" || reads_at_once(part)) list.push_back({with_one_row(part), inputs});
    }
  list.insert(list.end(), kOptions.begin(), kOptions.end());
  return list;
}

void TinyChooser::make(const ChooserVariant& variant) {
  const System& system = system_named(variant.variant.system);
  const auto config = system.config("small");
  make_tiny(*config, variant.variant, 4);
  config->inputs.assign(variant.inputs, kChooserWords);
  config->outputs = kLabels;
  model = system.make(Scope(parameters), *config);
  chooser = dynamic_cast<const Chooser*>(model.get());
  require(chooser != nullptr, "[test] {} chooses no labels", system.name);
}

std::unique_ptr<TinyChooser> TinyChooser::in_eight_bits(const ChooserVariant& variant, std::uint64_t seed) {
  const TinyChooser drawn(variant, seed);
  std::unique_ptr<TinyChooser> rounded(new TinyChooser);
  rounded->parameters.give(
      [&drawn](const std::string& name, const Shape&) { return drawn.parameters.at(name).value(); });
  rounded->parameters.round_to_int8();
  rounded->make(variant);
  return rounded;
}

TinyChooser::TinyChooser(const ChooserVariant& variant, std::uint64_t seed) : parameters(seed) {
  make(variant);
  randomise(parameters, seed, 0.4);
  for (const WordTable& table : model->word_tables())
    if (table.frozen) {
      Tensor frozen = table.frozen.value();
      for (Index id = 0; id < frozen.size(); ++id) frozen.data()[id] = id % 3 == 0 ? Real{1} : Real{0};
    }
}

void set_to_zero(Parameters& parameters, const std::string& name) {
  Tensor value = parameters.at(name).value();
  std::fill(value.values().begin(), value.values().end(), Real{0});
}

void copy_parameters(const Parameters& from, const Parameters& to) {
  for (const Parameters::Entry& entry : to.entries()) {
    Tensor value = entry.var.value();
    const Tensor same = from.at(entry.name).value().contiguous();
    std::copy_n(same.data(), same.size(), value.data());
  }
}

std::vector<Source> some_texts(std::size_t inputs, std::int32_t padding) {
  std::vector<Source> texts{sentences({{3, 7, 4, 9, 10, 3, 2}, {2}, {5, 6, 2}}, padding)};
  texts[0].ends = Ids(Shape{3, 2}, 0);
  texts[0].ends.data()[0] = 4, texts[0].ends.data()[1] = 6, texts[0].ends.data()[4] = 2;
  if (inputs == 2) texts.push_back(sentences({{4, 8, 2}, {9, 10, 3, 2}, {2}}, padding));
  return texts;
}

std::vector<Source> some_texts(const ChooserVariant& variant, std::int32_t padding) {
  if (!variant.choices) return some_texts(variant.inputs, padding);
  std::vector<Source> texts{sentences({{3, 7, 4, 9, 10, 3, 2}, {5, 3, 5, 6, 2}, {5, 6, 2}}, padding),
                            sentences({{4, 8, 2}, {9, 10, 3, 2}, {7, 2}}, padding),
                            sentences({{3, 7, 4, 9, 10, 2}, {5, 3, 6, 6, 2}, {5, 6, 2}}, padding)};
  texts[0].marks = Ids(Shape{3, 7}, {0, 1, 2, 3, 4, 0, -1, 0, 1, 0, 2, -1, -1, -1, 0, 1, -1, -1, -1, -1, -1});
  texts[1].marks = Ids(Shape{3, 4}, {-1, 0, -1, -1, 0, -1, -1, -1, 0, -1, -1, -1});
  texts[2].ends = Ids(Shape{3, 5}, {1, 2, 3, 4, 5, 1, 2, 4, 0, 0, 1, 2, 0, 0, 0});
  return texts;
}

std::vector<Source> only_sample(const std::vector<Source>& all, Index b) {
  std::vector<Source> one;
  for (const Source& text : all) {
    const Index length = text.lengths.data()[b];
    one.push_back({.words = text.words.slice(0, b, b + 1).slice(1, 0, length).contiguous(),
                   .lengths = Ids(Shape{1}, static_cast<std::int32_t>(length)),
                   .ends = text.ends ? text.ends.slice(0, b, b + 1).contiguous() : Ids(),
                   .marks = text.marks ? text.marks.slice(0, b, b + 1).slice(1, 0, length).contiguous() : Ids()});
  }
  return one;
}

}  // namespace heed::test
