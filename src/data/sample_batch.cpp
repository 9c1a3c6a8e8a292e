#include "heed/data/sample_batch.h"

#include <algorithm>

#include "heed/base/threads.h"
#include "heed/data/symbols.h"

namespace heed {
namespace {

// The samples of a batch, wherever they are.
using Rows = std::span<const EncodedSample* const>;

std::vector<const EncodedSample*> addresses_of(std::span<const EncodedSample> samples) {
  std::vector<const EncodedSample*> rows;
  rows.reserve(samples.size());
  for (const EncodedSample& sample : samples) rows.push_back(&sample);
  return rows;
}

// Below it are the ids that can be written: of known words, and of others that stand in the input. What was cut off
// does not.
Index written_size(const EncodedInput& input) {
  const auto largest = std::max_element(input.copies.begin(), input.copies.end());
  return std::max(input.known, largest == input.copies.end() ? 0 : Index{*largest} + 1);
}

// The words of the inputs as they are copied, beside `words`.
void add_copies(std::span<const EncodedInput* const> inputs, Source& result) {
  if (inputs.front()->known == 0) return;
  result.known = result.extended = inputs.front()->known;
  result.copies = result.words.copy();
  for (std::size_t b = 0; b < inputs.size(); ++b) {
    std::copy(inputs[b]->copies.begin(), inputs[b]->copies.end(),
              result.copies.data() + static_cast<Index>(b) * result.longest());
    result.extended = std::max(result.extended, inputs[b]->extended->size());
  }
}

// The features of the inputs to rows of a batch, [batch, longest, width]. Some may be made only now.
void add_features(std::span<const EncodedInput* const> inputs, Tensor& batch) {
  const Index row = batch.size(1) * batch.size(2);
  parallel_for_each(static_cast<Index>(inputs.size()), 1, [&](Index b) {
    const Tensor features = inputs[static_cast<std::size_t>(b)]->all_features().contiguous();
    std::copy(features.values().begin(), features.values().end(), batch.data() + b * row);
  });
}

// Inputs of all samples, each padded to the longest; errors name `what` and the sample's number.
Source source_of(std::span<const EncodedInput* const> inputs, const std::string& what, std::span<const Index> numbers) {
  const auto batch = static_cast<Index>(inputs.size());
  Index longest = 0;
  std::size_t sentences = 0;
  for (const EncodedInput* input : inputs) {
    longest = std::max(longest, input->length_in_batch());
    sentences = std::max(sentences, input->ends.size());
  }
  const EncodedInput& first = *inputs.front();
  const bool words = !first.has_features();
  const bool marks = std::any_of(inputs.begin(), inputs.end(), [](const auto* input) { return !input->marks.empty(); });
  const Index width = words ? 1 : first.width();
  Source result;
  result.lengths = Ids(Shape{batch});
  if (words) result.words = Ids(Shape{batch, longest}, kEnd);
  if (!words) result.features = Tensor(Shape{batch, longest, width}, Real{0});
  if (sentences > 0) result.ends = Ids(Shape{batch, static_cast<Index>(sentences)}, 0);
  if (marks) result.marks = Ids(Shape{batch, longest}, -1);
  for (std::size_t b = 0; b < inputs.size(); ++b) {
    const EncodedInput& from = *inputs[b];
    const auto row = static_cast<Index>(b) * longest;
    result.lengths.data()[b] = static_cast<std::int32_t>(from.length_in_batch());
    require(words == !from.has_features() && (words || from.width() == width),
            "[batch] {} of sample {} has features of another width than the first", what, numbers[b]);
    if (words) std::copy(from.words.begin(), from.words.end(), result.words.data() + row);
    std::copy(from.ends.begin(), from.ends.end(), result.ends.data() + b * sentences);
    if (marks) std::copy(from.marks.begin(), from.marks.end(), result.marks.data() + row);
  }
  if (!words) add_features(inputs, result.features);
  add_copies(inputs, result);
  return result;
}

// The choices of all samples, as documents in which each is a sentence.
Source source_of_choices(Rows samples, std::span<const Index> numbers) {
  std::vector<EncodedInput> choices;
  choices.reserve(samples.size());
  for (const EncodedSample* sample : samples) choices.push_back(choices_of(*sample));
  std::vector<const EncodedInput*> inputs;
  inputs.reserve(choices.size());
  for (const EncodedInput& each : choices) inputs.push_back(&each);
  return source_of(inputs, "the choices", numbers);
}

void add_words(Rows samples, SampleBatch& result) {
  std::size_t n = 0;
  for (const EncodedSample* sample : samples) n = std::max(n, sample->output.size() + 1);
  const Shape shape{static_cast<Index>(samples.size()), static_cast<Index>(n)};
  result.previous.words = Ids(shape, kEnd);
  result.previous.lengths = Ids(Shape{shape[0]});
  result.expected = Ids(shape, -1);
  for (std::size_t b = 0; b < samples.size(); ++b) {
    const std::vector<std::int32_t>& output = samples[b]->output;
    const EncodedInput& input = samples[b]->inputs.front();
    const Index written = written_size(input);
    const auto below = [](Index size, std::int32_t id) { return size > 0 && id >= size ? kUnknown : id; };
    result.previous.words.data()[b * n] = kBegin;
    for (std::size_t t = 0; t < output.size(); ++t) {
      result.previous.words.data()[b * n + t + 1] = below(input.known, output[t]);
      result.expected.data()[b * n + t] = below(written, output[t]);
    }
    result.expected.data()[b * n + output.size()] = kEnd;
    result.previous.lengths.data()[b] = static_cast<std::int32_t>(output.size() + 1);
  }
}

void add_labels(Rows samples, SampleBatch& result) {
  result.expected = Ids(Shape{static_cast<Index>(samples.size())}, -1);
  for (std::size_t b = 0; b < samples.size(); ++b) {
    if (samples[b]->output.empty()) continue;
    result.expected.data()[b] = samples[b]->output[0];
  }
}

}  // namespace

bool cut_input(EncodedInput& input, Index longest) {
  if (input.limited_length() <= longest) return false;
  if (input.features) {
    input.features = input.features.slice(0, 0, longest).copy();
    return true;
  }
  input.words.resize(static_cast<std::size_t>(longest));
  if (!input.copies.empty()) input.copies.resize(static_cast<std::size_t>(longest));
  if (!input.marks.empty()) input.marks.resize(static_cast<std::size_t>(longest));
  const auto end = static_cast<std::int32_t>(longest);
  const auto beyond = std::lower_bound(input.ends.begin(), input.ends.end(), end);
  if (beyond == input.ends.end()) return true;
  input.ends.erase(beyond, input.ends.end());
  input.ends.push_back(end);
  return true;
}

EncodedInput choices_of(const EncodedSample& sample) {
  if (!sample.choices.ends.empty() || sample.inputs.empty()) return sample.choices;
  const EncodedInput& from = sample.inputs.front();
  EncodedInput choices;
  for (std::size_t i = 0; i < from.marks.size(); ++i) {
    const auto next = static_cast<std::int32_t>(choices.ends.size());
    if (from.marks[i] < 0 || from.marks[i] < next - 1) continue;
    const bool is_new = from.marks[i] == next;
    // A word of several pieces has its number at each of them, the first time in a row.
    if (!is_new && (i == 0 || from.marks[i - 1] != from.marks[i])) continue;
    choices.words.push_back(from.words[i]);
    if (is_new) choices.ends.push_back(0);
    choices.ends.back() = static_cast<std::int32_t>(choices.words.size());
  }
  return choices;
}

Ids choice_counts(const Source& choices) {
  const Index batch = choices.batch(), most = choices.ends.size(1);
  Ids counts(Shape{batch});
  for (Index b = 0; b < batch; ++b) {
    const std::int32_t* const row = choices.ends.data() + b * most;
    counts.data()[b] = static_cast<std::int32_t>(std::find(row, row + most, 0) - row);
  }
  return counts;
}

SampleBatch batch_of(std::span<const EncodedSample> samples, bool gives_label) {
  return batch_of_rows(addresses_of(samples), gives_label);
}

SampleBatch texts_of(std::span<const EncodedSample> samples) {
  SampleBatch result;
  result.samples = static_cast<Index>(samples.size());
  for (const EncodedSample& sample : samples) {
    result.numbers.push_back(sample.number);
    result.words += words_of(sample, false);
  }
  add_words(addresses_of(samples), result);
  return result;
}

Index words_of(const EncodedSample& sample, bool gives_label) {
  if (gives_label) return sample.output.empty() ? 0 : 1;
  return static_cast<Index>(sample.output.size()) + 1;
}

SampleBatch batch_of_rows(Rows samples, bool gives_label) {
  require(!samples.empty(), "[batch] there is no sample in it");
  const std::size_t inputs = samples[0]->inputs.size();
  SampleBatch result;
  for (const EncodedSample* sample : samples) {
    require(sample->inputs.size() == inputs, "[batch] a sample of {} inputs beside one of {}", sample->inputs.size(),
            inputs);
    result.numbers.push_back(sample->number);
    result.words += words_of(*sample, gives_label);
  }
  result.samples = static_cast<Index>(samples.size());
  for (std::size_t i = 0; i < inputs; ++i) {
    std::vector<const EncodedInput*> all;
    for (const EncodedSample* sample : samples) all.push_back(&sample->inputs[i]);
    result.inputs.push_back(source_of(all, fmt::format("input {}", i), result.numbers));
  }
  if (inputs > 0 && result.inputs[0].marks) result.inputs.push_back(source_of_choices(samples, result.numbers));
  if (gives_label) {
    add_labels(samples, result);
  } else {
    add_words(samples, result);
  }
  return result;
}

}  // namespace heed
