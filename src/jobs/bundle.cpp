#include "heed/jobs/bundle.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "heed/base/error.h"
#include "heed/base/json-inl.h"
#include "heed/base/spelling.h"
#include "heed/base/utf8.h"
#include "heed/data/sentences.h"
#include "heed/data/text_file.h"
#include "heed/data/words.h"
#include "heed/jobs/tuning.h"

namespace heed {
namespace {

std::string size_name(const JobSide& side) {
  return side.name + (is_text(side.kind) ? "-vocabulary" : side.kind == Kind::label ? "-count" : "-width");
}

// All fields, with the sizes that come from the data.
VisitFields all_fields(const Job& job, Config& config) {
  config.inputs.resize(job.inputs.size());
  return [&job, &config](Fields& field) {
    for (std::size_t i = 0; i < job.inputs.size(); ++i)
      field(size_name(job.inputs[i]).c_str(), config.inputs[i], "entries or width of this input");
    if (!job.gives_choice()) field(size_name(job.output).c_str(), config.outputs, "entries of the output");
    config.visit(field);
  };
}

void make_model(Bundle& bundle, std::uint64_t seed, const GivenValues& given, Numbers numbers = Numbers::stored) {
  bundle.parameters = std::make_unique<Parameters>(seed);
  bundle.parameters->give(given);
  if (numbers == Numbers::int8) bundle.parameters->round_to_int8();
  bundle.model = bundle.system->make(Scope(*bundle.parameters), *bundle.config);
  bundle.parameters->give({});
  bundle.writer = dynamic_cast<const Writer*>(bundle.model.get());
  bundle.chooser = dynamic_cast<const Chooser*>(bundle.model.get());
  require(bundle.job->chooses() ? bundle.chooser != nullptr : bundle.writer != nullptr,
          "[{}] {} does not give what this job needs", bundle.job->name, bundle.system->name);
}

std::string labels_file(const Job& job) { return job.output.name + ".labels.txt"; }

// What the sense of an input knows.
std::string sense_file(const JobSide& input) { return input.name + ".safetensors"; }

std::vector<NamedTensor> knowledge_of(const Sense* sense) {
  return sense ? sense->knowledge() : std::vector<NamedTensor>{};
}

// As it was when the folder was made; nothing for a text.
std::shared_ptr<const Sense> load_sense(const ModelFolder& folder, const Bundle& bundle, std::size_t input) {
  std::shared_ptr<Sense> sense = make_sense(*bundle.job, *bundle.system, *bundle.config, input);
  if (!sense) return sense;
  if (const std::filesystem::path file = folder.path() / sense_file(bundle.job->inputs[input]);
      std::filesystem::exists(file))
    sense->recall(ParametersFile(file));
  const Index width = bundle.config->inputs[input];
  require(sense->width() == width, "{}: its input {} is {} wide, but the model was made for {}", folder.path().string(),
          bundle.job->inputs[input].name, sense->width(), width);
  return sense;
}

// Making a vocabulary of its file is a good part of a start: a side whose file is that of an input shares the input's.
std::shared_ptr<const Vocabulary> load_side(const ModelFolder& folder, const std::string& side, Index size,
                                            std::span<const std::shared_ptr<const Vocabulary>> inputs) {
  const std::filesystem::path file = folder.vocabulary(side);
  const auto same = std::ranges::find_if(inputs, [&](const std::shared_ptr<const Vocabulary>& known) {
    return known && file.filename() == known->file_name(side) && known->serialized() == read_unpacked(file.string());
  });
  std::shared_ptr<const Vocabulary> vocabulary = same != inputs.end() ? *same : load_vocabulary(file);
  require(vocabulary->size() == size, "{}: it has {} entries, but the model was made for {}", file.string(),
          vocabulary->size(), size);
  return vocabulary;
}

std::vector<std::string> load_labels(const ModelFolder& folder, const Job& job, Index count) {
  const std::string file = (folder.path() / labels_file(job)).string();
  std::vector<std::string> labels = LineReader(file).rest();
  require(static_cast<Index>(labels.size()) == count, "{}: it has {} labels, but the model was made for {}", file,
          labels.size(), count);
  return labels;
}

// What training.json says of the model to those who use it. What is missing or of another type is left out: the model
// runs without it.
void read_notes(const ModelFolder& folder, Bundle& bundle) {
  std::error_code ignored;
  if (!std::filesystem::exists(folder.training(), ignored)) return;
  const auto json = read_json_file(folder.training());
  if (!json.is_object()) return;
  if (const auto example = json.find("example"); example != json.end() && example->is_array())
    for (const auto& text : *example)
      if (text.is_string()) bundle.example.push_back(text.get<std::string>());
  if (bundle.example.size() != bundle.job->inputs.size()) bundle.example.clear();
  if (const auto outcome = json.find("outcome"); outcome != json.end() && outcome->is_object())
    bundle.choices_given = outcome->value("choices-given", nlohmann::json(false)) == true;
  const auto options = json.find("options");
  if (options == json.end() || !options->is_object()) return;
  if (const auto pieces = options->find("longest-sentence"); pieces != options->end() && pieces->is_number_integer())
    bundle.longest = pieces->get<Index>();
  bundle.unlinked_at_end = options->value("alignment-end", nlohmann::json(false)) == true;
  if (const auto codes = options->find("languages"); codes != options->end() && codes->is_string())
    bundle.languages = split_languages(codes->get<std::string>());
}

// Words that the vocabulary lacks get ids of their own.
void extend(EncodedInput& input, const std::shared_ptr<const Vocabulary>& vocabulary, std::string_view text) {
  input.extended = extended_by(vocabulary, text);
  if (!input.extended) return;
  input.known = vocabulary->size();
  input.copies = input.extended->encode(text);
}

}  // namespace

std::vector<std::int32_t> sentence_ends_in(std::string_view text, std::span<const TextPlace> places) {
  std::vector<std::int32_t> ends;
  std::size_t piece = 0, seen = 0;
  Index characters = 0;  // before `seen`
  for (const std::size_t end : sentence_ends(text)) {
    characters += static_cast<Index>(count_characters(text.substr(seen, end - seen)));
    seen = end;
    while (piece < places.size() && places[piece].begin < characters) ++piece;
    if (static_cast<std::int32_t>(piece) > (ends.empty() ? 0 : ends.back()))
      ends.push_back(static_cast<std::int32_t>(piece));
  }
  if (piece < places.size()) ends.push_back(static_cast<std::int32_t>(places.size()));
  return ends;
}

EncodedInput Bundle::encode_input(std::size_t input, const Value& value) const {
  EncodedInput encoded;
  const JobSide& side = job->inputs[input];
  if (const auto& vocabulary = codes.inputs[input]) {
    encoded.words = vocabulary->encode(value.text);
    if (input == 0 && writer && writer->copies()) extend(encoded, vocabulary, value.text);
    if (side.kind == Kind::document) encoded.ends = sentence_ends_in(value.text, vocabulary->places(value.text));
    return encoded;
  }
  Featured sensed = sense_input(input, value);
  encoded.features = std::move(sensed.features);
  encoded.frames = sensed.frames;
  encoded.whole = side.kind == Kind::image;
  return encoded;
}

Featured Bundle::sense_input(std::size_t input, const Value& value) const {
  try {
    Featured sensed = codes.senses[input]->sensed(job->inputs[input].kind, value);
    const Index width = config->inputs[input];
    require(sensed.features.rank() == 2 && sensed.features.size(1) == width,
            "{}: its features {} are not those that the model reads, {} wide", value.text, sensed.features.shape(),
            width);
    return sensed;
  } catch (const Error& error) {
    throw UnreadableInput(error.what());
  }
}

EncodedSample Bundle::encode(const Sample& sample) const {
  require(sample.inputs.size() == job->inputs.size(), "[{}] {} inputs, but it reads {}", job->name,
          sample.inputs.size(), job->inputs.size());
  EncodedSample encoded;
  for (std::size_t i = 0; i < sample.inputs.size(); ++i) encoded.inputs.push_back(encode_input(i, sample.inputs[i]));
  const std::vector<Choice> choices =
      job->gives_choice() ? choose_from(sample, encoded) : std::vector<Choice>{};  // labels are found without a list
  if (sample.outputs.empty()) return encoded;
  if (job->gives_choice()) {
    encoded.output = {choice_number(choices, sample)};
    return encoded;
  }
  if (job->gives_label()) {
    encoded.output = {label_number(sample.outputs.front())};
    return encoded;
  }
  const Vocabulary& words = output_words(encoded);
  encoded.output = words.encode(sample.outputs.front());
  for (std::size_t i = 1; i < sample.outputs.size(); ++i)
    encoded.other_outputs.push_back(words.encode(sample.outputs[i]));
  return encoded;
}

EncodedSample Bundle::encode_for_training(const Sample& sample) const {
  EncodedSample encoded = encode(sample);
  for (std::size_t i = 0; i < encoded.inputs.size(); ++i) {
    EncodedInput& input = encoded.inputs[i];
    if (!input.whole || !codes.senses[i]->bulky()) continue;
    input.late = std::make_shared<const LateFeatures>(
        LateFeatures{.length = input.length(), .width = input.width(), .make = [this, i, value = sample.inputs[i]] {
                       return sense_input(i, value).features;
                     }});
    input.features = {};
  }
  return encoded;
}

const Vocabulary& Bundle::output_words(const EncodedSample& sample) const {
  const auto& extended = sample.inputs.front().extended;
  return extended ? *extended : *codes.output;
}

std::vector<Choice> Bundle::choose_from(const Sample& sample, EncodedSample& encoded) const {
  if (job->gives_label()) {
    std::vector<Choice> labels;
    for (const std::string& label : codes.labels) labels.push_back({label});
    return labels;
  }
  std::vector<Choice> choices = mark_choices(*codes.inputs.front(), sample, encoded);
  for (std::size_t i = 0; i < job->inputs.size(); ++i)
    if (job->inputs[i].blank) mark_blank(*codes.inputs[i], sample.inputs[i].text, encoded.inputs[i]);
  return choices;
}

std::int32_t Bundle::label_number(const std::string& label) const {
  const auto place = std::find(codes.labels.begin(), codes.labels.end(), label);
  require(place != codes.labels.end(), "[{}] the model has no label {}{}", job->name, label,
          did_you_mean(label, codes.labels));
  return static_cast<std::int32_t>(place - codes.labels.begin());
}

std::unique_ptr<Sense> make_sense(const Job& job, const System& system, const Config& config, std::size_t input) {
  if (is_text(job.inputs[input].kind)) return nullptr;
  require(system.sense != nullptr, "[{}] {} does not read what this job reads, the kind {}", job.name, system.name,
          name_of(job.inputs[input].kind));
  return system.sense(config, input);
}

Bundle make_bundle(const Job& job, const System& system, std::unique_ptr<Config> config, Codes codes,
                   std::uint64_t seed, const GivenValues& given) {
  Bundle bundle;
  bundle.job = &job, bundle.system = &system, bundle.config = std::move(config), bundle.codes = std::move(codes);
  bundle.config->inputs.assign(job.inputs.size(), 0);
  bundle.codes.senses.resize(job.inputs.size());
  for (std::size_t i = 0; i < job.inputs.size(); ++i) {
    if (!bundle.codes.senses[i]) bundle.codes.senses[i] = make_sense(job, system, *bundle.config, i);
    bundle.config->inputs[i] =
        bundle.codes.senses[i] ? bundle.codes.senses[i]->width() : bundle.codes.inputs[i]->size();
  }
  bundle.config->outputs =
      bundle.codes.output ? bundle.codes.output->size() : static_cast<Index>(bundle.codes.labels.size());
  make_model(bundle, seed, given);
  return bundle;
}

ModelFolder create_folder(const std::filesystem::path& path, const Bundle& bundle,
                          std::vector<ModelFolder::File> others, bool replace, const ModelFolder::Prepare& prepare) {
  const Job& job = *bundle.job;
  for (std::size_t i = 0; i < job.inputs.size(); ++i)
    if (const auto& vocabulary = bundle.codes.inputs[i])
      others.push_back({vocabulary->file_name(job.inputs[i].name), vocabulary->serialized()});
  if (bundle.codes.output)
    others.push_back({bundle.codes.output->file_name(job.output.name), bundle.codes.output->serialized()});
  if (job.gives_label())
    others.push_back({labels_file(job), fmt::format("{}\n", fmt::join(bundle.codes.labels, "\n"))});
  for (std::size_t i = 0; i < job.inputs.size(); ++i)
    if (const std::vector<NamedTensor> known = knowledge_of(bundle.codes.senses[i].get()); !known.empty())
      others.push_back({sense_file(job.inputs[i]), safetensors_bytes(sense_file(job.inputs[i]), known)});
  return ModelFolder::create(path, {bundle.system->name, job.name}, all_fields(job, *bundle.config), others, replace,
                             prepare);
}

namespace {

void set_fields(const System& system, Config& config, const RunSettings& settings) {
  for (const auto& [name, value] : settings) {
    const bool lets = std::ranges::find(system.running, flag_name(name)) != system.running.end();
    require(lets, "[{}] {} is not what a run can set{}", system.name, name,
            system.running.empty() ? ": its settings are those of its training"
                                   : fmt::format("; it can set {}", fmt::join(system.running, ", ")));
    set_field([&config](Fields& fields) { config.visit(fields); }, name, value, name);
  }
}

}  // namespace

Bundle load_bundle(const ModelFolder& folder, FolderWeights weights, std::uint64_t seed, Numbers numbers,
                   const RunSettings& settings) {
  using Verify = ModelFolder::Verify;
  folder.verify(weights == FolderWeights::trained    ? Verify::without_tensors
                : weights == FolderWeights::verified ? Verify::model
                                                     : Verify::all);
  Bundle bundle;
  bundle.job = &job_named(folder.job());
  bundle.system = &system_named(folder.model());
  const Job& job = *bundle.job;
  // The preset does not matter: every field is in the folder.
  bundle.config = bundle.system->config(bundle.system->presets.front());
  folder.read_config(all_fields(job, *bundle.config), bundle.system->later);
  set_fields(*bundle.system, *bundle.config, settings);
  for (std::size_t i = 0; i < job.inputs.size(); ++i)
    bundle.codes.inputs.push_back(is_text(job.inputs[i].kind) ? load_side(folder, job.inputs[i].name,
                                                                          bundle.config->inputs[i], bundle.codes.inputs)
                                                              : nullptr);
  for (std::size_t i = 0; i < job.inputs.size(); ++i) bundle.codes.senses.push_back(load_sense(folder, bundle, i));
  if (job.gives_label())
    bundle.codes.labels = load_labels(folder, job, bundle.config->outputs);
  else if (!job.gives_choice())
    bundle.codes.output = load_side(folder, job.output.name, bundle.config->outputs, bundle.codes.inputs);
  read_notes(folder, bundle);
  bundle.extractive = read_extractive(folder);
  if (job.gives_choice()) bundle.reranking = Reranking::load(folder, bundle.codes.inputs.front());
  if (weights != FolderWeights::fresh) {
    const ParametersFile stored = folder.stored_weights();
    make_model(bundle, seed, stored, numbers);
    stored.require_no_others(*bundle.parameters);
  } else if (folder.has_checkpoint()) {
    // Training goes on from them and writes to them: they get memory of their own.
    const ParametersFile stored(folder.checkpoint(), "parameters/");
    make_model(bundle, seed,
               [&stored](const std::string& name, const Shape& shape) { return stored(name, shape).value().copy(); });
    stored.require_no_others(*bundle.parameters);
  } else {
    make_model(bundle, seed, {});
  }
  return bundle;
}

std::vector<std::string> split_languages(const std::string& text) {
  const std::size_t dash = text.find('-');
  const auto is_code = [](std::string_view code) {
    return code.size() >= 2 && code.size() <= 3 &&
           std::all_of(code.begin(), code.end(), [](char c) { return c >= 'a' && c <= 'z'; });
  };
  if (dash == std::string::npos) return {};
  std::vector<std::string> codes{text.substr(0, dash), text.substr(dash + 1)};
  return is_code(codes[0]) && is_code(codes[1]) ? codes : std::vector<std::string>{};
}

std::string name_of_folder(const std::filesystem::path& folder) {
  const std::filesystem::path normal = folder.lexically_normal();
  return (normal.has_filename() ? normal : normal.parent_path()).filename().string();
}

}  // namespace heed
