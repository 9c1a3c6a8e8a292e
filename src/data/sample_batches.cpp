#include "heed/data/sample_batches.h"

#include <algorithm>
#include <exception>
#include <mutex>
#include <numeric>
#include <utility>

#include "heed/base/error.h"
#include "heed/base/random.h"
#include "heed/base/threads.h"
#include "heed/data/symbols.h"
#include "heed/data/text_file.h"

namespace heed {
namespace {

// Samples are encoded this many together, or fewer if they hold that many numbers: images are large.
constexpr Index kEncodedTogether = 8192, kNumbersTogether = Index{1} << 25, kEncodedByThread = 64;
constexpr const char* kCut = "used, an input cut as too long";
constexpr const char* kUnknownUnit = "used, with a unit that the vocabulary lacks";
constexpr const char* kUnusedReference = "used without a reference that is empty or too long";
constexpr const char* kCutOff = "left out, the answer is beyond what is read of the text";

template <class T>
void shuffle(std::vector<T>& items, RandomKey key) {
  RandomSequence random(key);
  for (std::size_t left = items.size(); left > 1; --left) std::swap(items[left - 1], items[random.below(left)]);
}

std::size_t words_in(const std::vector<Index>& word_of) {
  return word_of.empty() ? 0 : static_cast<std::size_t>(word_of.back() + 1);
}

Index length_in_batch(const EncodedInput& input) { return input.length() + (input.features ? 0 : 1); }
// The same as limits count it.
Index counted_length(const EncodedInput& input) { return input.whole ? 1 : length_in_batch(input); }

// The samples of a batch, wherever they are.
using Rows = std::span<const EncodedSample* const>;

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

// Inputs of all samples, each padded to the longest; errors name `what` and the sample's number.
Source source_of(std::span<const EncodedInput* const> inputs, const std::string& what, std::span<const Index> numbers) {
  const auto batch = static_cast<Index>(inputs.size());
  Index longest = 0;
  std::size_t sentences = 0;
  for (const EncodedInput* input : inputs) {
    longest = std::max(longest, length_in_batch(*input));
    sentences = std::max(sentences, input->ends.size());
  }
  const EncodedInput& first = *inputs.front();
  const bool words = !first.features;
  const bool marks = std::any_of(inputs.begin(), inputs.end(), [](const auto* input) { return !input->marks.empty(); });
  const Index width = words ? 1 : first.features.size(1);
  Source result;
  result.lengths = Ids(Shape{batch});
  if (words) result.words = Ids(Shape{batch, longest}, kEnd);
  if (!words) result.features = Tensor(Shape{batch, longest, width}, Real{0});
  if (sentences > 0) result.ends = Ids(Shape{batch, static_cast<Index>(sentences)}, 0);
  if (marks) result.marks = Ids(Shape{batch, longest}, -1);
  for (std::size_t b = 0; b < inputs.size(); ++b) {
    const EncodedInput& from = *inputs[b];
    const auto row = static_cast<Index>(b) * longest;
    result.lengths.data()[b] = static_cast<std::int32_t>(length_in_batch(from));
    require(words == !from.features && (words || from.features.size(1) == width),
            "[batch] {} of sample {} has features of another width than the first", what, numbers[b]);
    if (words) {
      std::copy(from.words.begin(), from.words.end(), result.words.data() + row);
    } else {
      const Tensor features = from.features.contiguous();
      std::copy(features.values().begin(), features.values().end(), result.features.data() + row * width);
    }
    std::copy(from.ends.begin(), from.ends.end(), result.ends.data() + b * sentences);
    if (marks) std::copy(from.marks.begin(), from.marks.end(), result.marks.data() + row);
  }
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

// What a sample adds to the words of its batch.
Index words_of(const EncodedSample& sample, bool gives_label) {
  if (gives_label) return sample.output.empty() ? 0 : 1;
  return static_cast<Index>(sample.output.size()) + 1;
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
  std::vector<const EncodedSample*> rows;
  rows.reserve(samples.size());
  for (const EncodedSample& sample : samples) rows.push_back(&sample);
  return batch_of_rows(rows, gives_label);
}

// Samples as numbers, from files.
class SampleBatches::Reader {
 public:
  explicit Reader(const BatchOptions& options) : samples_(options.files, options.columns), options_(options) {}

  // Adds up to `count` usable samples; false if there are no more.
  bool read(std::vector<EncodedSample>& result, Index count) {
    std::vector<Read> read;
    Index numbers = 0;
    for (Index i = 0; i < std::min(count, kEncodedTogether) && numbers < kNumbersTogether; ++i) {
      Read next;
      if (!samples_.next(next.sample)) break;
      for (const Value& input : next.sample.inputs)
        numbers += input.numbers ? input.numbers.size() : input.bytes ? static_cast<Index>(input.bytes->size()) : 0;
      next.place = samples_.place();
      next.links = samples_.links();
      next.links_valid = samples_.links_valid();
      next.number = samples_.number();
      read.push_back(std::move(next));
    }
    std::vector<EncodedSample> found = encoded(read);
    for (std::size_t i = 0; i < read.size(); ++i) {
      if (options_.on_sample && read[i].unreadable.empty()) options_.on_sample(read[i].sample);
      if (!fits(found[i], read[i])) continue;
      std::vector<std::vector<std::int32_t>> others = std::exchange(found[i].other_outputs, {});
      result.push_back(found[i]);
      for (std::vector<std::int32_t>& other : others) {
        found[i].output = std::move(other);
        result.push_back(found[i]);
      }
    }
    return !read.empty();
  }
  void rewind() { samples_.rewind(); }
  SampleReport& report() { return samples_.report(); }

 private:
  struct Read {
    Sample sample;
    Samples::Place place;
    WordLinks links;
    bool links_valid = true;
    Index number = 0;
    std::string unreadable;  // why it cannot be read; empty if it can
  };

  std::vector<EncodedSample> encoded(std::vector<Read>& read) const {
    std::vector<EncodedSample> samples(read.size());
    std::exception_ptr failure;
    std::mutex mutex;
    parallel_for(static_cast<Index>(read.size()), kEncodedByThread, [&](Index begin, Index end) {
      try {
        for (auto i = static_cast<std::size_t>(begin); i < static_cast<std::size_t>(end); ++i) {
          try {
            samples[i] = options_.encode(read[i].sample);
          } catch (const UnreadableInput& error) {
            read[i].unreadable = error.what();
            continue;
          }
          samples[i].links = std::move(read[i].links);
          samples[i].number = read[i].number;
        }
      } catch (...) {
        const std::lock_guard lock(mutex);
        failure = std::current_exception();
      }
    });
    if (failure) std::rethrow_exception(failure);
    return samples;
  }
  bool fits(EncodedSample& sample, const Read& read) {
    const auto leave_out = [&](const char* what) {
      report().add(what, read.place.text());
      return false;
    };
    if (!read.unreadable.empty()) {
      report().add(SampleReport::kUnreadable, fmt::format("{} ({})", read.place.text(), read.unreadable));
      return false;
    }
    Index longest_input = 0;
    for (const EncodedInput& input : sample.inputs) {
      if (input.length() == 0) return leave_out(SampleReport::kEmpty);
      longest_input = std::max(longest_input, input.limited_length());
    }
    if (sample.output.empty())
      return leave_out(options_.gives_label ? SampleReport::kUnlabelled : SampleReport::kEmpty);
    if ((longest_input > options_.longest && !options_.cut_inputs) || !choose_outputs(sample, read))
      return leave_out(SampleReport::kTooLong);
    if (options_.name_unknown && std::ranges::find(sample.output, kUnknown) != sample.output.end())
      report().add(kUnknownUnit, read.place.text());
    if (!links_fit(sample, read)) {
      report().add(SampleReport::kBadLinks, read.place.text());
      sample.links.clear();
    }
    if (longest_input > options_.longest) {
      report().add(kCut, read.place.text());
      for (EncodedInput& input : sample.inputs) cut_input(input, options_.longest);
      if (!sample.inputs[0].marks.empty() &&
          choices_of(sample).ends.size() <= static_cast<std::size_t>(sample.output[0]))
        return leave_out(kCutOff);
    }
    return true;
  }
  // Leaves out references that are too long; false if none is left.
  bool choose_outputs(EncodedSample& sample, const Read& read) {
    if (options_.gives_label) return true;
    const auto too_long = [this](const auto& output) { return static_cast<Index>(output.size()) > options_.longest; };
    const auto unusable = [&](const auto& output) { return output.empty() || too_long(output); };
    const auto unused = std::erase_if(sample.other_outputs, unusable);
    if (too_long(sample.output)) {
      if (sample.other_outputs.empty()) return false;
      sample.output = std::move(sample.other_outputs.back());
      sample.other_outputs.pop_back();
    } else if (unused == 0) {
      return true;
    }
    report().add(kUnusedReference, read.place.text());
    return true;
  }
  // Whether links lead to words that are there. A vocabulary that cuts words otherwise than at white space (it may
  // normalise the text first) makes their numbers meaningless.
  bool links_fit(const EncodedSample& sample, const Read& read) const {
    if (!read.links_valid) return false;
    if (sample.links.empty()) return true;
    const std::vector<std::vector<Index>> words = options_.words_of(sample);
    const std::size_t input = words_in(words[0]), output = words_in(words[1]);
    if (input != words_of_line(read.sample.inputs[0].text).size() ||
        output != words_of_line(read.sample.outputs[0]).size())
      return false;
    return std::all_of(sample.links.begin(), sample.links.end(), [&](const auto& link) {
      return static_cast<std::size_t>(link.first) < input && static_cast<std::size_t>(link.second) < output;
    });
  }

  Samples samples_;
  const BatchOptions options_;  // its own: the owner may be moved
};

SampleBatches::SampleBatches(BatchOptions options) : options_(std::move(options)) {
  require(options_.encode != nullptr, "[batches] nothing makes numbers of samples");
  require(options_.files.alignments.empty() || (options_.words_of && !options_.gives_label),
          "[batches] word links need an output of words, and which word each piece belongs to");
  require(options_.batch_tokens >= 0 && options_.batch_samples >= 0,
          "[batches] a batch cannot have {} tokens and {} samples", options_.batch_tokens, options_.batch_samples);
  require(options_.batch_tokens > 0 || options_.batch_samples > 0,
          "[batches] batches need a limit, of tokens or of samples");
  require(options_.batch_tokens != 1, "[batches] a batch of 1 token has no room for a word and the end");
  require(options_.longest > 0, "[batches] no sample is as short as the longest allowed, {}", options_.longest);
  require(options_.buffer > 0, "[batches] a buffer of {} samples holds nothing", options_.buffer);
  if (options_.batch_tokens > 0) options_.longest = std::min(options_.longest, options_.batch_tokens - 1);
  reader_ = std::make_unique<Reader>(options_);
  start_epoch(0);
}
SampleBatches::~SampleBatches() = default;
SampleBatches::SampleBatches(SampleBatches&&) noexcept = default;
SampleBatches& SampleBatches::operator=(SampleBatches&&) noexcept = default;

const SampleReport& SampleBatches::report() const { return complete_.complete ? complete_ : reader_->report(); }

void SampleBatches::start_epoch(Index epoch) {
  if (!whole_ && reader_->report().read > 0) reader_->rewind();
  position_ = {epoch, 0};
  buffers_ = 0;
  started_ = true;
  const bool filled = fill();
  require(filled, "[batches] there is no usable sample: {}", filled ? "" : report().text());
}

// Prepares the next buffer of the epoch; false if there is none.
bool SampleBatches::fill() {
  if (whole_ && buffers_ > 0) return false;
  if (!whole_) read_buffer();
  ++buffers_;
  at_ = 0;
  cut_batches();
  return !batches_.empty();
}

void SampleBatches::read_buffer() {
  samples_.clear();
  bool more = true;
  while (more && static_cast<Index>(samples_.size()) < options_.buffer)
    more = reader_->read(samples_, options_.buffer - static_cast<Index>(samples_.size()));
  if (more) return;
  complete_ = reader_->report();
  whole_ = buffers_ == 0;
}

void SampleBatches::cut_batches() {
  // The names are those under which the orders of all runs so far were drawn.
  const RandomKey key = RandomKey{options_.seed}
                            .derive("pairs")
                            .derive(static_cast<std::uint64_t>(position_.epoch))
                            .derive(static_cast<std::uint64_t>(buffers_));
  std::vector<std::size_t> order(samples_.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  if (options_.shuffle) shuffle(order, key.derive("pairs"));
  // Samples of the same lengths stay in the order of the shuffle.
  std::stable_sort(order.begin(), order.end(), [this](std::size_t a, std::size_t b) {
    const EncodedSample &first = samples_[a], &second = samples_[b];
    for (std::size_t i = 0; i < first.inputs.size(); ++i)
      if (const Index x = first.inputs[i].length(), y = second.inputs[i].length(); x != y) return x < y;
    return !options_.gives_label && first.output.size() < second.output.size();
  });
  batches_.clear();
  Index longest = 0;  // of the last batch, of all inputs and outputs, with their ends
  for (const std::size_t i : order) {
    Index length = options_.gives_label ? 0 : static_cast<Index>(samples_[i].output.size()) + 1;
    for (const EncodedInput& input : samples_[i].inputs) length = std::max(length, counted_length(input));
    const Index size = batches_.empty() ? 0 : static_cast<Index>(batches_.back().size());
    const bool full = (options_.batch_samples > 0 && size + 1 > options_.batch_samples) ||
                      (options_.batch_tokens > 0 && (size + 1) * std::max(longest, length) > options_.batch_tokens);
    if (batches_.empty() || full) {
      batches_.emplace_back();
      longest = 0;
    }
    batches_.back().push_back(i);
    longest = std::max(longest, length);
  }
  if (options_.shuffle) shuffle(batches_, key.derive("batches"));
}

SampleBatch SampleBatches::next(const Part& part) {
  if (!started_) start_epoch(position_.epoch);
  SampleBatch batch = assemble(batches_[at_], part);
  ++at_;
  ++position_.batch;
  if (at_ == batches_.size() && !fill()) {
    position_ = {position_.epoch + 1, 0};
    started_ = false;
  }
  return batch;
}

void SampleBatches::seek(Position position) {
  require(position.epoch >= 0 && position.batch >= 0, "[batches] there is no epoch {}, batch {}", position.epoch,
          position.batch);
  if (position == position_) return;
  start_epoch(position.epoch);
  for (Index left = position.batch; left > 0;) {
    const Index here = std::min(left, static_cast<Index>(batches_.size() - at_));
    at_ += static_cast<std::size_t>(here);
    left -= here;
    position_.batch += here;
    if (at_ < batches_.size() || fill()) continue;
    require(left == 0, "[batches] epoch {} has {} batches, so none is number {}; did the files or the options change?",
            position.epoch, position_.batch, position.batch);
    position_ = {position.epoch + 1, 0};
    started_ = false;
  }
}

SampleBatch SampleBatches::assemble(const std::vector<std::size_t>& rows, const Part& part) const {
  const auto all = static_cast<Index>(rows.size());
  const Index begin = all * part.from / part.of, end = all * part.to / part.of;
  Index all_words = 0;
  for (const std::size_t row : rows) all_words += words_of(samples_[row], options_.gives_label);
  std::vector<const EncodedSample*> samples;
  for (Index i = begin; i < end; ++i) samples.push_back(&samples_[rows[static_cast<std::size_t>(i)]]);
  SampleBatch result;
  if (!samples.empty()) result = batch_of_rows(samples, options_.gives_label);
  result.words = all_words;
  result.samples = all;
  result.first = begin;
  if (samples.empty() || options_.files.alignments.empty()) return result;
  const Index m = result.inputs[0].longest(), n = result.previous.longest();
  result.alignment = Tensor(Shape{end - begin, n, m}, Real{0});
  for (std::size_t b = 0; b < samples.size(); ++b) {
    if (samples[b]->links.empty()) continue;
    const std::vector<std::vector<Index>> words = options_.words_of(*samples[b]);
    spread_links(samples[b]->links, words[0], words[1], static_cast<std::size_t>(m),
                 result.alignment.data() + static_cast<Index>(b) * n * m);
  }
  return result;
}

}  // namespace heed
