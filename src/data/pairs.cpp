#include "heed/data/pairs.h"

#include <algorithm>
#include <exception>
#include <mutex>
#include <numeric>

#include "heed/base/error.h"
#include "heed/base/random.h"
#include "heed/base/threads.h"
#include "heed/data/pair_lines.h"

namespace heed {
namespace {

constexpr Index kEncodedTogether = 8192, kEncodedByThread = 64;

template <class T>
void shuffle(std::vector<T>& items, RandomKey key) {
  RandomSequence random(key);
  for (std::size_t left = items.size(); left > 1; --left) std::swap(items[left - 1], items[random.below(left)]);
}

std::size_t words_in(const std::vector<Index>& word_of) {
  return word_of.empty() ? 0 : static_cast<std::size_t>(word_of.back() + 1);
}

}  // namespace

struct PairBatches::Pair {
  std::vector<std::int32_t> source, target;  // without begin and end
  WordLinks links;
  Index line = 0;
};

// Pairs of ids from pairs of lines.
class PairBatches::Reader {
 public:
  explicit Reader(const PairOptions& options)
      : lines_(options.source_files, options.target_files, options.tsv, options.alignments), options_(options) {}

  // Adds up to `count` usable pairs; false if there are no more.
  bool read(std::vector<Pair>& pairs, Index count) {
    std::vector<PairLines::Line> lines;
    for (Index i = 0; i < std::min(count, kEncodedTogether); ++i) {
      PairLines::Line line;
      if (!lines_.next(line)) break;
      lines.push_back(std::move(line));
    }
    std::vector<Pair> found = encoded(lines);
    for (std::size_t i = 0; i < lines.size(); ++i)
      if (fits(found[i], lines[i])) pairs.push_back(std::move(found[i]));
    report().kept = report().lines - report().left_out();
    return !lines.empty();
  }
  PairReport& report() { return lines_.report(); }

 private:
  std::vector<Pair> encoded(const std::vector<PairLines::Line>& lines) const {
    std::vector<Pair> pairs(lines.size());
    std::exception_ptr failure;
    std::mutex mutex;
    parallel_for(static_cast<Index>(lines.size()), kEncodedByThread, [&](Index begin, Index end) {
      try {
        for (auto i = static_cast<std::size_t>(begin); i < static_cast<std::size_t>(end); ++i)
          pairs[i] = {options_.source->encode(lines[i].source), options_.target->encode(lines[i].target),
                      lines[i].links, lines[i].number};
      } catch (...) {
        const std::lock_guard lock(mutex);
        failure = std::current_exception();
      }
    });
    if (failure) std::rethrow_exception(failure);
    return pairs;
  }
  bool fits(Pair& pair, const PairLines::Line& line) {
    if (pair.source.empty() || pair.target.empty()) {
      report().empty.add(line.file, line.file_line);
      return false;
    }
    const auto longest = static_cast<Index>(std::max(pair.source.size(), pair.target.size()));
    if (longest > options_.longest) {
      report().too_long.add(line.file, line.file_line);
      return false;
    }
    if (!links_fit(pair, line)) {
      report().bad_alignment.add(line.file, line.file_line);
      pair.links.clear();
    }
    return true;
  }
  // Whether links lead to words that are there. A vocabulary that cuts words otherwise than at white space (it may
  // normalise the text first) makes their numbers meaningless.
  bool links_fit(const Pair& pair, const PairLines::Line& line) const {
    if (!line.links_valid) return false;
    if (pair.links.empty()) return true;
    const std::size_t source = words_in(options_.source->word_of(pair.source));
    const std::size_t target = words_in(options_.target->word_of(pair.target));
    if (source != line.source_words || target != line.target_words) return false;
    return std::all_of(pair.links.begin(), pair.links.end(), [&](const auto& link) {
      return static_cast<std::size_t>(link.first) < source && static_cast<std::size_t>(link.second) < target;
    });
  }

  PairLines lines_;
  const PairOptions options_;  // its own: the owner may be moved
};

PairBatches::PairBatches(PairOptions options) : options_(std::move(options)) {
  require(options_.source && options_.target, "[pairs] there is no vocabulary for the {}",
          options_.source ? "target" : "source");
  require(options_.batch_tokens >= 0 && options_.batch_sentences >= 0,
          "[pairs] a batch cannot have {} tokens and {} sentences", options_.batch_tokens, options_.batch_sentences);
  require(options_.batch_tokens > 0 || options_.batch_sentences > 0,
          "[pairs] batches need a limit, of tokens or of sentences");
  require(options_.batch_tokens == 0 || options_.batch_tokens > 1,
          "[pairs] a batch of 1 token has no room for a word and the end");
  require(options_.longest > 0, "[pairs] no sentence is as short as the longest allowed, {}", options_.longest);
  require(options_.buffer > 0, "[pairs] a buffer of {} pairs holds nothing", options_.buffer);
  if (options_.batch_tokens > 0) options_.longest = std::min(options_.longest, options_.batch_tokens - 1);
  start_epoch(0);
}
PairBatches::~PairBatches() = default;
PairBatches::PairBatches(PairBatches&&) noexcept = default;
PairBatches& PairBatches::operator=(PairBatches&&) noexcept = default;

const PairReport& PairBatches::report() const { return complete_.complete || !reader_ ? complete_ : reader_->report(); }

void PairBatches::start_epoch(Index epoch) {
  if (!whole_) {
    if (reader_) {
      const auto is_standard_input = [](const std::string& file) { return file == "-"; };
      require(!is_standard_input(options_.tsv) && !is_standard_input(options_.alignments) &&
                  std::none_of(options_.source_files.begin(), options_.source_files.end(), is_standard_input) &&
                  std::none_of(options_.target_files.begin(), options_.target_files.end(), is_standard_input),
              "[pairs] the standard input cannot be read a second time; use a file, or a buffer that holds all of it");
    }
    reader_ = std::make_unique<Reader>(options_);
  }
  position_ = {epoch, 0};
  buffers_ = 0;
  started_ = true;
  const bool filled = fill();
  require(filled, "[pairs] there is no usable pair of sentences: {}", filled ? "" : report().text());
}

// Prepares the next buffer of the epoch; false if there is none.
bool PairBatches::fill() {
  if (whole_ && buffers_ > 0) return false;
  if (!whole_) read_buffer();
  ++buffers_;
  at_ = 0;
  cut_batches();
  return !batches_.empty();
}

void PairBatches::read_buffer() {
  pairs_.clear();
  bool more = true;
  while (more && static_cast<Index>(pairs_.size()) < options_.buffer)
    more = reader_->read(pairs_, options_.buffer - static_cast<Index>(pairs_.size()));
  if (more) return;
  reader_->report().complete = true;
  complete_ = reader_->report();
  whole_ = buffers_ == 0;
}

void PairBatches::cut_batches() {
  const RandomKey key = RandomKey{options_.seed}
                            .derive("pairs")
                            .derive(static_cast<std::uint64_t>(position_.epoch))
                            .derive(static_cast<std::uint64_t>(buffers_));
  std::vector<std::size_t> order(pairs_.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  if (options_.shuffle) shuffle(order, key.derive("pairs"));
  // Pairs of the same lengths stay in the order of the shuffle.
  std::stable_sort(order.begin(), order.end(), [this](std::size_t a, std::size_t b) {
    const auto lengths = [this](std::size_t i) { return std::pair(pairs_[i].source.size(), pairs_[i].target.size()); };
    return lengths(a) < lengths(b);
  });
  batches_.clear();
  Index longest = 0;  // of the last batch, either side, with the end
  for (const std::size_t i : order) {
    const Index length = static_cast<Index>(std::max(pairs_[i].source.size(), pairs_[i].target.size())) + 1;
    const Index sentences = batches_.empty() ? 0 : static_cast<Index>(batches_.back().size());
    const bool full =
        (options_.batch_sentences > 0 && sentences + 1 > options_.batch_sentences) ||
        (options_.batch_tokens > 0 && (sentences + 1) * std::max(longest, length) > options_.batch_tokens);
    if (batches_.empty() || full) {
      batches_.emplace_back();
      longest = 0;
    }
    batches_.back().push_back(i);
    longest = std::max(longest, length);
  }
  if (options_.shuffle) shuffle(batches_, key.derive("batches"));
}

PairBatch PairBatches::next() {
  if (!started_) start_epoch(position_.epoch);
  PairBatch batch = assemble(batches_[at_]);
  ++at_;
  ++position_.batch;
  if (at_ == batches_.size() && !fill()) {
    position_ = {position_.epoch + 1, 0};
    started_ = false;
  }
  return batch;
}

void PairBatches::seek(Position position) {
  require(position.epoch >= 0 && position.batch >= 0, "[pairs] there is no epoch {}, batch {}", position.epoch,
          position.batch);
  if (position == position_) return;
  start_epoch(position.epoch);
  for (Index left = position.batch; left > 0;) {
    const Index here = std::min(left, static_cast<Index>(batches_.size() - at_));
    at_ += static_cast<std::size_t>(here);
    left -= here;
    position_.batch += here;
    if (at_ < batches_.size() || fill()) continue;
    require(left == 0, "[pairs] epoch {} has {} batches, so none is number {}; did the files or the options change?",
            position.epoch, position_.batch, position.batch);
    position_ = {position.epoch + 1, 0};
    started_ = false;
  }
}

PairBatch PairBatches::assemble(const std::vector<std::size_t>& rows) const {
  const auto batch = static_cast<Index>(rows.size());
  std::size_t m = 0, n = 0;
  for (const std::size_t row : rows) {
    m = std::max(m, pairs_[row].source.size() + 1);
    n = std::max(n, pairs_[row].target.size() + 1);
  }
  const Shape source_shape{batch, static_cast<Index>(m)}, target_shape{batch, static_cast<Index>(n)};
  PairBatch result;
  result.source = {Ids(source_shape, kEnd), Ids(Shape{batch})};
  result.previous = {Ids(target_shape, kEnd), Ids(Shape{batch})};
  result.expected = Ids(target_shape, -1);
  if (!options_.alignments.empty()) result.alignment = Tensor(Shape{batch, target_shape[1], source_shape[1]}, Real{0});
  for (std::size_t b = 0; b < rows.size(); ++b) {
    const Pair& pair = pairs_[rows[b]];
    std::copy(pair.source.begin(), pair.source.end(), result.source.words.data() + b * m);
    result.previous.words.data()[b * n] = kBegin;
    std::copy(pair.target.begin(), pair.target.end(), result.previous.words.data() + b * n + 1);
    std::copy(pair.target.begin(), pair.target.end(), result.expected.data() + b * n);
    result.expected.data()[b * n + pair.target.size()] = kEnd;
    result.source.lengths.data()[b] = static_cast<std::int32_t>(pair.source.size() + 1);
    result.previous.lengths.data()[b] = static_cast<std::int32_t>(pair.target.size() + 1);
    result.source_words += static_cast<Index>(pair.source.size() + 1);
    result.target_words += static_cast<Index>(pair.target.size() + 1);
    result.lines.push_back(pair.line);
    if (!pair.links.empty())
      spread_links(pair.links, options_.source->word_of(pair.source), options_.target->word_of(pair.target), m,
                   result.alignment.data() + b * n * m);
  }
  return result;
}

}  // namespace heed
