#include "runner.h"

#include <nanobind/ndarray.h>
#include <nanobind/stl/function.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <cmath>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>

#include "arrays.h"
#include "heed/jobs/runner.h"
#include "heed/jobs/training.h"
#include "heed/train/launch.h"
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

nb::dict dict_of(const heed::TraceAxis& axis) {
  nb::dict result;
  if (axis.kind == heed::Kind::image || axis.kind == heed::Kind::sound) {
    result["rows"] = axis.rows;
    result["columns"] = axis.columns;
    if (axis.frames.step > 0) result["frame_seconds"] = axis.frames.step;
    if (axis.frames.margin != 0) result["frame_margin"] = axis.frames.margin;
    if (!axis.preview.empty()) result["preview"] = axis.preview;
  } else {
    result = dict_of(axis.text);
  }
  result["name"] = axis.name;
  result["kind"] = heed::name_of(axis.kind);
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

nb::dict dict_of(const heed::TraceTrust& trust) {
  nb::dict result;
  result["entropy"] = trust.entropy;
  for (const auto& [name, value] : heed::kTrustNumbers)
    if (std::isfinite(trust.*value)) result[name] = trust.*value;
  return result;
}

// The fields of docs/trace.schema.json, with arrays for weights and log-probabilities, and every axis by its name too.
nb::dict dict_of(const heed::Trace& trace) {
  nb::dict result;
  nb::list axes;
  for (const heed::TraceAxis& axis : trace.axes) {
    const nb::dict one = dict_of(axis);
    result[axis.name.c_str()] = one;
    axes.append(one);
  }
  result["model"] = trace.model;
  result["system"] = trace.system;
  result["job"] = trace.job;
  result["axes"] = axes;
  if (trace.alignment) {
    result["alignment"] = array_of(trace.alignment);
    result["rows"] = trace.rows;
    result["columns"] = trace.columns;
  }
  const auto add_row = [&result](const char* name, const std::vector<double>& numbers) {
    if (numbers.empty()) return;
    heed::Tensor row(heed::Shape{static_cast<heed::Index>(numbers.size())});
    std::copy(numbers.begin(), numbers.end(), row.data());
    result[name] = array_of(row);
  };
  add_row("log_probabilities", trace.log_probabilities);
  add_row("generation_probabilities", trace.generation_probabilities);
  add_row("copied", trace.copied);
  if (!trace.choices.empty()) {
    nb::list choices;
    for (const heed::TraceChoice& choice : trace.choices) {
      nb::dict one;
      one["label"] = choice.label;
      one["probability"] = choice.probability;
      choices.append(one);
    }
    result["choices"] = choices;
  }
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
  if (!trace.trust.empty()) result["trust"] = dict_of(trace.trust.front());
  return result;
}

using FloatArray = nb::ndarray<const float, nb::c_contig, nb::device::cpu>;

// An input as Python gives it: (text or name of a file, numbers or None, rate).
heed::Value value_of(heed::Kind kind, const nb::tuple& input) {
  const std::string text = nb::cast<std::string>(input[0]);
  if (input[1].is_none()) return heed::read_value(kind, text);
  const auto array = nb::cast<FloatArray>(input[1]);
  std::vector<heed::Index> sizes;
  for (std::size_t i = 0; i < array.ndim(); ++i) sizes.push_back(static_cast<heed::Index>(array.shape(i)));
  heed::Value value{.text = text, .numbers = heed::Tensor(heed::Shape(std::span<const heed::Index>(sizes)))};
  std::copy_n(array.data(), value.numbers.size(), value.numbers.data());
  value.rate = nb::cast<double>(input[2]);
  return value;
}

class Model {
 public:
  Model(const std::vector<std::string>& folders, int threads, bool int8, const heed::RunSettings& settings)
      : runner_(
            {folders.begin(), folders.end()}, threads, [this](const std::string& line) { warnings_.push_back(line); },
            heed::FolderWeights::trained, int8 ? heed::Numbers::int8 : heed::Numbers::stored, settings) {}

  // Each answer is (text, log-probability, score, finished, hard alignment or None, start or None, end or None).
  nb::list run(const nb::list& inputs, const nb::dict& options) {
    const std::vector<heed::Sample> samples = samples_of(inputs, {});
    const heed::RunOptions run = run_options(options);
    std::vector<std::vector<heed::Result>> results;
    {
      const nb::gil_scoped_release unlocked;
      results = runner_.run(samples, run);
    }
    nb::list list;
    for (const std::vector<heed::Result>& answers : results) {
      nb::list one;
      for (const heed::Result& result : answers) {
        const nb::object alignment = result.alignment ? nb::cast(heed::hard_alignment(*result.alignment)) : nb::none();
        const auto place = [&](heed::Index at) { return result.begin >= 0 ? nb::cast(at) : nb::none(); };
        one.append(nb::make_tuple(result.text, result.log_probability, result.score, result.finished, alignment,
                                  place(result.begin), place(result.end)));
      }
      list.append(one);
    }
    return list;
  }

  // `pick` holds attention, layer, head as `heed explain` takes them.
  nb::list explain(const nb::list& inputs, const std::optional<std::vector<std::string>>& outputs,
                   const nb::dict& options, bool attentions, bool alternatives, bool trust,
                   const std::vector<std::string>& pick, bool rollout, bool words, bool end,
                   const nb::object& on_token) {
    const std::vector<heed::Sample> samples = samples_of(inputs, outputs);
    heed::ExplainOptions explain;
    const heed::InputLimits limits = explain.run.limits;
    explain.run = run_options(options);
    if (!options.contains("longest")) explain.run.limits = limits;
    explain.run.limits.too_long = heed::TooLong::refuse;
    explain.beam = alternatives;
    explain.trust = trust;
    const heed::AttentionPick picks{pick.at(0), pick.at(1), pick.at(2), rollout};
    const bool picking = rollout || !(pick[0].empty() && pick[1].empty() && pick[2].empty());
    explain.attentions = attentions || picking;
    if (!on_token.is_none())
      explain.run.on_token = [&on_token](const heed::WrittenToken& token) {
        const nb::gil_scoped_acquire locked;
        heed::Tensor weights(heed::Shape{static_cast<heed::Index>(token.weights.size())});
        std::copy(token.weights.begin(), token.weights.end(), weights.data());
        on_token(token.sample, token.token.text, token.text, token.log_probability, array_of(weights));
      };
    std::vector<heed::Trace> traces;
    {
      const nb::gil_scoped_release unlocked;
      traces = runner_.explain(samples, explain);
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

  std::vector<std::pair<double, heed::Index>> score(const nb::list& inputs, const std::vector<std::string>& outputs) {
    const std::vector<heed::Sample> samples = samples_of(inputs, outputs);
    const nb::gil_scoped_release unlocked;
    std::vector<std::pair<double, heed::Index>> scores;
    for (const heed::SampleScore& score : runner_.score(samples))
      scores.emplace_back(score.log_probability, score.words);
    return scores;
  }

  // What `heed models` and `heed info` say of it.
  nb::dict about() const {
    const heed::Bundle& bundle = runner_.bundle();
    nb::dict result;
    nb::list inputs;
    for (const heed::JobSide& side : bundle.job->inputs)
      inputs.append(nb::make_tuple(side.name, heed::name_of(side.kind)));
    result["job"] = bundle.job->name;
    result["system"] = bundle.system->name;
    result["inputs"] = inputs;
    result["output"] = nb::make_tuple(bundle.job->output.name, heed::name_of(bundle.job->output.kind));
    result["labels"] = bundle.codes.labels;
    result["languages"] = bundle.languages;
    result["example"] = bundle.example;
    result["parameters"] = bundle.parameters->count();
    return result;
  }
  std::vector<std::string> take_warnings() { return std::exchange(warnings_, {}); }

 private:
  std::vector<heed::Sample> samples_of(const nb::list& inputs,
                                       const std::optional<std::vector<std::string>>& outputs) const {
    heed::require(!outputs || outputs->size() == inputs.size(), "[{}] {} outputs for {} inputs", runner_.job().verb,
                  outputs ? outputs->size() : 0, inputs.size());
    std::vector<heed::Sample> samples;
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      const auto values = nb::cast<nb::list>(inputs[i]);
      const std::size_t reads = runner_.job().inputs.size();
      heed::require(values.size() == reads || (values.size() > reads && runner_.job().gives_choice()),
                    "[{}] {} inputs, but it reads {}", runner_.job().verb, values.size(), reads);
      heed::Sample& sample = samples.emplace_back();
      for (std::size_t k = reads; k < values.size(); ++k)
        sample.choices.push_back(nb::cast<std::string>(nb::cast<nb::tuple>(values[k])[0]));
      for (std::size_t k = 0; k < reads; ++k)
        sample.inputs.push_back(value_of(runner_.job().inputs[k].kind, nb::cast<nb::tuple>(values[k])));
      if (outputs) sample.outputs = {(*outputs)[i]};
    }
    return samples;
  }

  static heed::RunOptions run_options(const nb::dict& options) {
    heed::RunOptions run;
    heed::SearchOptions& search = run.search.options;
    const auto take = [&options]<class T>(const char* name, T& to) {
      if (options.contains(name)) to = nb::cast<T>(options[name]);
    };
    if (options.contains("search"))
      run.search.method = heed::search_method_named(nb::cast<std::string>(options["search"]));
    take("beam", search.beam);
    take("best", search.best);
    take("length_penalty", search.length_penalty);
    take("coverage_penalty", search.coverage_penalty);
    take("no_repeat", search.no_repeat);
    take("least_words", run.outputs.least_words);
    take("most_words", run.outputs.most_words);
    take("most_bytes", run.outputs.most_bytes);
    take("rerank", run.rerank);
    take("temperature", search.temperature);
    take("top_k", search.top_k);
    take("nucleus", search.nucleus);
    take("seed", search.seed);
    take("longest", run.limits.longest);
    take("prefixes", run.prefixes);
    return run;
  }

  std::vector<std::string> warnings_;
  heed::Runner runner_;
};

// Options as `heed train` takes them, with _ for -. Gives the folder, how it ended and the signal that stopped it.
nb::dict train(const std::vector<std::pair<std::string, std::string>>& options, bool resume, bool force,
               bool accept_changed_data, const nb::object& say) {
  std::vector<heed::GivenOption> given;
  for (const auto& [name, text] : options) given.push_back({name, text, name});
  const heed::Say tell = [&say](const std::string& line) {
    const nb::gil_scoped_acquire locked;
    say(line);
  };
  heed::TrainedModel trained;
  {
    const nb::gil_scoped_release unlocked;
    heed::work_as_rank([&](const heed::RanksPointer& ranks) {
      if (!resume) {
        std::optional<heed::TrainingPlan> plan;
        ranks->together([&] { plan = heed::plan_training(given); });
        trained = heed::train_model(std::move(*plan), force, tell, ranks);
        return;
      }
      std::optional<heed::Training> training;
      ranks->together([&] {
        std::string output;
        for (const heed::GivenOption& option : given)
          if (option.name == "output") output = option.text;
        heed::require(!output.empty(), "[train] say which folder goes on, with output");
        training = heed::training_of_folder(output);
        heed::change_training(*training, given);
      });
      trained = heed::resume_training(
          *training, tell, accept_changed_data ? heed::ChangedData::accepted : heed::ChangedData::refused, ranks);
    });
  }
  nb::dict result;
  result["folder"] = trained.folder.string();
  result["steps"] = trained.result.step;
  result["signal"] = trained.result.signal;
  if (trained.result.best) result["best"] = *trained.result.best;
  return result;
}

}  // namespace

void add_runner(nb::module_& module) {
  nb::class_<Model>(module, "Model")
      .def(nb::init<const std::vector<std::string>&, int, bool, const heed::RunSettings&>(), nb::arg("folders"),
           nb::arg("threads"), nb::arg("int8"), nb::arg("settings"))
      .def("run", &Model::run, nb::arg("inputs"), nb::arg("options"))
      .def("explain", &Model::explain, nb::arg("inputs"), nb::arg("outputs").none(), nb::arg("options"),
           nb::arg("attentions"), nb::arg("alternatives"), nb::arg("trust"), nb::arg("pick"), nb::arg("rollout"),
           nb::arg("words"), nb::arg("end"), nb::arg("on_token").none())
      .def("score", &Model::score, nb::arg("inputs"), nb::arg("outputs"))
      .def("about", &Model::about)
      .def("take_warnings", &Model::take_warnings);
  module.def("train", &train, nb::arg("options"), nb::arg("resume"), nb::arg("force"), nb::arg("accept_changed_data"),
             nb::arg("say"));
}
