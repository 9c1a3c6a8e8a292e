#include "heed/data/sample_batches.h"

#include <algorithm>
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

// In a batch, as its limits count it.
Index counted_length(const EncodedInput& input) { return input.whole ? 1 : input.length_in_batch(); }

}  // namespace

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
    parallel_for_each(static_cast<Index>(read.size()), kEncodedByThread, [&](Index index) {
      const auto i = static_cast<std::size_t>(index);
      try {
        samples[i] = options_.encode(read[i].sample);
      } catch (const UnreadableInput& error) {
        read[i].unreadable = error.what();
        return;
      }
      samples[i].links = std::move(read[i].links);
      samples[i].number = read[i].number;
    });
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

// The rows of the next batch, until it is closed.
const std::vector<std::size_t>& SampleBatches::open_batch() {
  if (!started_) start_epoch(position_.epoch);
  return batches_[at_];
}

void SampleBatches::close_batch() {
  ++at_;
  ++position_.batch;
  if (at_ < batches_.size() || fill()) return;
  position_ = {position_.epoch + 1, 0};
  started_ = false;
}

SampleBatch SampleBatches::next(const Part& part) {
  SampleBatch batch = assemble(open_batch(), part);
  close_batch();
  return batch;
}

std::vector<EncodedSample> SampleBatches::next_samples() {
  std::vector<EncodedSample> samples;
  for (const std::size_t row : open_batch()) samples.push_back(samples_[row]);
  close_batch();
  return samples;
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
  if (options_.keep_encoded)
    for (const EncodedSample* sample : samples) result.encoded.push_back(*sample);
  if (samples.empty() || options_.files.alignments.empty()) return result;
  const Index m = result.inputs[0].longest(), n = result.previous.longest();
  result.alignment = Tensor(Shape{end - begin, n, m}, Real{0});
  for (std::size_t b = 0; b < samples.size(); ++b) {
    if (samples[b]->links.empty()) continue;
    const std::vector<std::vector<Index>> words = options_.words_of(*samples[b]);
    std::optional<std::size_t> unlinked;
    if (options_.unlinked_at_end) unlinked = words[0].size();  // where the input's end symbol stands
    spread_links(samples[b]->links, words[0], words[1], static_cast<std::size_t>(m),
                 result.alignment.data() + static_cast<Index>(b) * n * m, unlinked);
  }
  return result;
}

}  // namespace heed
