#include "heed/serve/inputs.h"

#include <algorithm>

#include "heed/base/spelling.h"
#include "heed/base/utf8.h"
#include "heed/base/white_space.h"
#include "heed/data/blank.h"
#include "heed/serve/body-inl.h"

namespace heed {
namespace {

constexpr const char* kAnyText = "text";

std::vector<std::string> names_of(const std::vector<JobSide>& sides) {
  std::vector<std::string> names;
  names.reserve(sides.size());
  for (const JobSide& side : sides) names.push_back(side.name);
  return names;
}

void check_value(const Job& job, const JobSide& side, const SentInput& input, const SentValue& value,
                 const RequestLimits& limits) {
  if (!is_text(side.kind)) {
    if (!value.is_file) refuse(400, "{} is of kind {}: send {{\"base64\": \"...\"}}", side.name, name_of(side.kind));
    return;
  }
  if (value.is_file) refuse(400, "{} must be a text, not bytes", side.name);
  check_text(input.name, value.bytes, limits);
  if (job.gives_label() && is_blank(value.bytes)) refuse(422, "{} is empty: nothing to choose by", input.name);
  if (!side.blank) return;
  if (const auto fault = fault_of_blank(with_blank(value.bytes))) refuse(400, "{}: {}", side.name, *fault);
}

}  // namespace

const JobSide* input_named(const Job& job, const std::string& name) {
  for (const JobSide& side : job.inputs)
    if (side.name == name) return &side;
  const bool one_text = job.inputs.size() == 1 && is_text(job.inputs.front().kind);
  return one_text && name == kAnyText ? &job.inputs.front() : nullptr;
}

void check_text(const std::string& name, const std::string& text, const RequestLimits& limits) {
  if (!valid_utf8(text)) refuse(400, "{} is not valid UTF-8", name);
  const Index count = static_cast<Index>(count_characters(text));
  if (count > limits.text) refuse(422, "{} has {} characters; at most {} are allowed", name, count, limits.text);
}

void add_choices(const Job& job, std::vector<std::string> choices, const RequestLimits& limits, SentSample& sample) {
  if (choices.empty()) return;
  if (!job.gives_choice()) refuse(400, "choices: {} does not choose from what is sent", job.name);
  if (static_cast<Index>(choices.size()) > limits.texts)
    refuse(422, "choices has {} texts; at most {} are allowed", choices.size(), limits.texts);
  for (const std::string& choice : choices) {
    check_text("choices", choice, limits);
    if (is_blank(choice)) refuse(400, "choices has an empty text");
  }
  if (const auto twice = repeated_choice(choices)) refuse(400, "choices has {} twice", shown(*twice));
  for (std::string& choice : choices) sample.push_back({std::move(choice), false});
}

std::vector<SentSample> sent_samples(const Job& job, std::vector<SentInput> inputs, const RequestLimits& limits) {
  std::vector<SentInput*> ordered(job.inputs.size(), nullptr);
  for (SentInput& input : inputs) {
    const JobSide* side = input_named(job, input.name);
    if (side == nullptr)
      refuse(400, "{} has no input {}{}", job.name, shown(input.name),
             did_you_mean(shown(input.name), names_of(job.inputs)));
    SentInput*& place = ordered[static_cast<std::size_t>(side - job.inputs.data())];
    if (place != nullptr) refuse(400, "{} is there twice", side->name);
    place = &input;
    if (static_cast<Index>(input.values.size()) > limits.texts)
      refuse(422, "{} has {} values; at most {} are allowed", input.name, input.values.size(), limits.texts);
    for (const SentValue& value : input.values) check_value(job, *side, input, value, limits);
  }
  for (std::size_t i = 0; i < ordered.size(); ++i) {
    if (ordered[i] == nullptr) refuse(400, "the input {} is missing", job.inputs[i].name);
    if (ordered[i]->values.size() != ordered.front()->values.size())
      refuse(400, "{} has {} values, but {} has {}", ordered[i]->name, ordered[i]->values.size(), ordered.front()->name,
             ordered.front()->values.size());
  }
  std::vector<SentSample> samples(ordered.front()->values.size());
  for (SentInput* input : ordered)
    for (std::size_t i = 0; i < samples.size(); ++i) samples[i].push_back(std::move(input->values[i]));
  return samples;
}

Sample decoded_sample(const Job& job, const SentSample& sent) {
  Sample sample;
  for (std::size_t i = 0; i < job.inputs.size(); ++i)
    sample.inputs.push_back(decode_value(job.inputs[i].kind, sent[i].bytes, job.inputs[i].name));
  for (std::size_t i = job.inputs.size(); i < sent.size(); ++i) sample.choices.push_back(sent[i].bytes);
  return sample;
}

}  // namespace heed
