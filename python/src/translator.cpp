#include "translator.h"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <cmath>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>

#include "arrays.h"
#include "heed/jobs/explain.h"
#include "heed/trace/merge.h"
#include "heed/trace/pick.h"
#include "heed/trace/trace_json.h"

namespace nb = nanobind;

namespace {

nb::dict dict_of(const heed::TraceText& text) {
  nb::list tokens, words;
  for (const heed::TraceToken& token : text.tokens) {
    nb::dict entry;
    entry["text"] = token.text;
    entry["begin"] = token.begin;
    entry["end"] = token.end;
    entry["word"] = token.word;
    tokens.append(entry);
  }
  for (const heed::TraceWord& word : text.words) {
    nb::dict entry;
    entry["text"] = word.text;
    entry["begin"] = word.begin;
    entry["end"] = word.end;
    words.append(entry);
  }
  nb::dict result;
  result["text"] = text.text;
  result["tokens"] = tokens;
  result["words"] = words;
  return result;
}

nb::dict dict_of(const heed::TraceAttention& attention) {
  nb::dict result;
  result["name"] = attention.name;
  result["layer"] = attention.layer;
  result["rows"] = attention.rows;
  result["columns"] = attention.columns;
  result["weights"] = array_of(attention.weights);
  return result;
}

nb::list list_of(const std::vector<heed::TraceHypothesis>& step) {
  nb::list result;
  for (const heed::TraceHypothesis& each : step) {
    nb::dict entry;
    entry["token"] = each.token;
    entry["from"] = each.from;
    entry["log_probability"] = each.log_probability;
    entry["score"] = each.score;
    entry["ended"] = each.ended;
    entry["chosen"] = each.chosen;
    result.append(entry);
  }
  return result;
}

// The fields of docs/trace.schema.json, with arrays for weights and log-probabilities.
nb::dict dict_of(const heed::Trace& trace) {
  nb::dict result;
  result["model"] = trace.model;
  result["system"] = trace.system;
  result["source"] = dict_of(trace.column_axis().text);
  result["target"] = dict_of(trace.row_axis().text);
  if (trace.alignment) result["alignment"] = array_of(trace.alignment);
  heed::Tensor logs(heed::Shape{static_cast<heed::Index>(trace.log_probabilities.size())});
  for (std::size_t i = 0; i < trace.log_probabilities.size(); ++i)
    logs.data()[i] = static_cast<heed::Real>(trace.log_probabilities[i]);
  if (!trace.log_probabilities.empty()) result["log_probabilities"] = array_of(logs);
  if (!trace.attentions.empty()) {
    nb::list attentions;
    for (const heed::TraceAttention& each : trace.attentions) attentions.append(dict_of(each));
    result["attentions"] = attentions;
  }
  if (!trace.beam.empty()) {
    nb::list beam;
    for (const auto& step : trace.beam) beam.append(list_of(step));
    result["beam"] = beam;
  }
  return result;
}

std::string name_of(const std::string& folder) {
  const std::filesystem::path normal = std::filesystem::path(folder).lexically_normal();
  return (normal.has_filename() ? normal : normal.parent_path()).filename().string();
}

class Translator {
 public:
  explicit Translator(const std::string& folder)
      : explainer_(std::make_shared<const heed::TranslationBundle>(
                       heed::load_translation(heed::ModelFolder(folder), heed::FolderWeights::trained)),
                   name_of(folder)) {}

  // `pick` holds attention, layer, head as `heed explain` takes them.
  nb::list explain(const std::vector<std::string>& sources, const std::optional<std::vector<std::string>>& targets,
                   const std::string& search, heed::Index beam, bool attentions, bool alternatives,
                   const std::vector<std::string>& pick, bool rollout, bool words, bool end) const {
    heed::ExplainOptions options;
    options.search.method = heed::search_method_named(search);
    options.search.options.beam = beam;
    options.beam = alternatives;
    const heed::AttentionPick picks{pick.at(0), pick.at(1), pick.at(2), rollout};
    const bool picking = rollout || !(pick[0].empty() && pick[1].empty() && pick[2].empty());
    options.attentions = attentions || picking;
    std::vector<heed::Trace> traces;
    {
      const nb::gil_scoped_release unlocked;
      traces = targets ? explainer_.explain_given(sources, *targets, options) : explainer_.explain(sources, options);
      for (heed::Trace& trace : traces) {
        if (picking) trace = heed::picked(trace, picks);
        if (words) trace = heed::by_words(trace);
        if (!end) trace = heed::without_end(trace);
      }
    }
    nb::list result;
    for (const heed::Trace& trace : traces) result.append(nb::make_tuple(dict_of(trace), heed::to_json(trace)));
    return result;
  }
  std::vector<std::string> translate(const std::vector<std::string>& sources, const std::string& search,
                                     heed::Index beam) const {
    const nb::gil_scoped_release unlocked;
    heed::ExplainOptions options;
    options.search.method = heed::search_method_named(search);
    options.search.options.beam = beam;
    std::vector<std::string> texts;
    for (const heed::Trace& trace : explainer_.explain(sources, options)) texts.push_back(trace.output().text.text);
    return texts;
  }
  std::string system() const { return explainer_.bundle().name; }

 private:
  heed::Explainer explainer_;
};

}  // namespace

void add_translator(nb::module_& module) {
  nb::class_<Translator>(module, "Translator")
      .def(nb::init<const std::string&>(), nb::arg("folder"))
      .def("translate", &Translator::translate, nb::arg("sources"), nb::arg("search"), nb::arg("beam"))
      .def("explain", &Translator::explain, nb::arg("sources"), nb::arg("targets").none(), nb::arg("search"),
           nb::arg("beam"), nb::arg("attentions"), nb::arg("alternatives"), nb::arg("pick"), nb::arg("rollout"),
           nb::arg("words"), nb::arg("end"))
      .def_prop_ro("system", &Translator::system);
}
