#include "heed/data/word_vectors.h"

#include <algorithm>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstring>
#include <optional>
#include <unordered_set>

#include "heed/base/error.h"
#include "heed/base/utf8.h"
#include "heed/data/text_file.h"

namespace heed {
namespace {

static_assert(std::endian::native == std::endian::little, "word2vec's numbers are little-endian");

constexpr Index kWidest = 1 << 16;
constexpr std::size_t kLongestWord = std::size_t{1} << 16;

// The bytes of a file that were read and not yet used; as many as are asked for, if the file has them.
class Window {
 public:
  explicit Window(const std::string& file) : bytes_(file) {}

  // Whether there are so many; reads on if need be.
  bool has(std::size_t count) {
    while (left() < count && !ended_) {
      if (at_ > 0) {
        std::memmove(buffer_.data(), buffer_.data() + at_, left());
        end_ -= at_;
        at_ = 0;
      }
      constexpr std::size_t kBlock = std::size_t{1} << 16;
      if (buffer_.size() < end_ + kBlock) buffer_.resize(2 * buffer_.size() + kBlock);
      const std::size_t got = bytes_.read(std::span(buffer_).subspan(end_));
      ended_ = got == 0;
      end_ += got;
    }
    return left() >= count;
  }
  std::string_view view() const { return {buffer_.data() + at_, left()}; }
  void use(std::size_t count) { at_ += count; }
  // The length of what stands before the byte; the most that is looked at, or all that is left, if it is not there.
  std::size_t length_before(char byte, std::size_t most) {
    for (std::size_t seen = 0; seen < most && has(seen + 1);) {
      const std::size_t found = view().find(byte, seen);
      if (found != std::string_view::npos) return std::min(found, most);
      seen = left();
    }
    return std::min(left(), most);
  }
  const std::string& name() const { return bytes_.name(); }

 private:
  std::size_t left() const { return end_ - at_; }

  ByteReader bytes_;
  std::vector<char> buffer_;
  std::size_t at_ = 0, end_ = 0;
  bool ended_ = false;
};

bool is_space_or_tab(char c) { return c == ' ' || c == '\t'; }

std::string_view without_blanks_behind(std::string_view line) {
  while (!line.empty() && (is_space_or_tab(line.back()) || line.back() == '\r')) line.remove_suffix(1);
  return line;
}
// Takes the last field off the line.
std::string_view take_last_field(std::string_view& line) {
  std::size_t begin = line.size();
  while (begin > 0 && !is_space_or_tab(line[begin - 1])) --begin;
  const std::string_view field = line.substr(begin);
  line = without_blanks_behind(line.substr(0, begin));
  return field;
}
std::optional<Real> number_in(std::string_view field) {
  double value = 0;
  const auto [end, fault] = std::from_chars(field.data(), field.data() + field.size(), value);
  const bool tiny = fault == std::errc::result_out_of_range && field.find("e-") != std::string_view::npos;
  if (end != field.data() + field.size() || (fault != std::errc{} && !tiny)) return std::nullopt;
  const Real number = static_cast<Real>(value);
  return std::isfinite(number) ? std::optional(number) : std::nullopt;
}

class VectorReader {
 public:
  VectorReader(const std::string& file, const std::function<bool(std::string_view)>& wanted)
      : window_(file), wanted_(wanted) {}

  WordVectors read() {
    constexpr std::string_view kMark = "\xef\xbb\xbf";
    if (window_.has(kMark.size()) && window_.view().starts_with(kMark)) window_.use(kMark.size());
    std::string_view line;
    require(next_line(line), "{}: it is empty; there are no word vectors in it", window_.name());
    if (take_header(line)) {
      if (is_binary()) {
        read_binary();
      } else {
        while (next_line(line)) read_line(line);
      }
      require(found_.read == promised_, "{}: it is cut off: its header says {} vectors, and it has {}", window_.name(),
              promised_, found_.read);
    } else {
      width_ = width_of_first(line);
      do read_line(line);
      while (next_line(line));
    }
    found_.vectors = Tensor(Shape{static_cast<Index>(found_.words.size()), width_}, std::span<const Real>(numbers_));
    return std::move(found_);
  }

 private:
  // The next line that is not empty, without the blanks behind it; valid until the next call.
  bool next_line(std::string_view& line) {
    while (window_.has(used_ + 1)) {
      window_.use(used_);
      const std::size_t length = window_.length_before('\n', LineReader::kLongestLine);
      ++line_;
      require(length < LineReader::kLongestLine, "{}: line {} is longer than {} bytes; are these word vectors?",
              window_.name(), line_, LineReader::kLongestLine);
      line = without_blanks_behind(window_.view().substr(0, length));
      used_ = std::min(length + 1, window_.view().size());
      if (!line.empty()) return true;
    }
    return false;
  }

  // word2vec's "<words> <width>".
  bool take_header(std::string_view line) {
    const auto count_in = [](std::string_view field) -> std::optional<Index> {
      Index count = 0;
      const auto [end, fault] = std::from_chars(field.data(), field.data() + field.size(), count);
      return fault == std::errc{} && end == field.data() + field.size() && count >= 0 ? std::optional(count)
                                                                                      : std::nullopt;
    };
    const std::optional<Index> width = count_in(take_last_field(line)), words = count_in(line);
    if (!words || !width) return false;
    promised_ = *words;
    width_ = *width;
    require(promised_ > 0, "{}: line {}: its header says that it has no vectors", window_.name(), line_);
    require(width_ > 0 && width_ <= kWidest, "{}: line {}: its header says {} numbers per word; 1 to {} are read",
            window_.name(), line_, width_, kWidest);
    return true;
  }
  // Behind the first word, numbers as text have no control character and are UTF-8.
  bool is_binary() {
    window_.use(used_);
    used_ = 0;
    const std::size_t word = window_.length_before(' ', kLongestWord);
    const std::size_t bytes = static_cast<std::size_t>(width_) * sizeof(float);
    window_.has(word + 1 + bytes);
    const std::string_view seen = window_.view().substr(word).substr(0, bytes + 1);
    const bool controls = std::any_of(seen.begin(), seen.end(), [](char c) {
      return static_cast<unsigned char>(c) < ' ' && c != '\t' && c != '\n' && c != '\r';
    });
    return controls || valid_utf8_prefix(seen) + 3 < seen.size();
  }

  // Of a file without a header: the first line has one word, so the rest are its numbers.
  Index width_of_first(std::string_view line) const {
    Index width = 0;
    for (std::string_view left = line; !left.empty() && number_in(take_last_field(left)) && !left.empty();) ++width;
    require(width > 0, "{}: line {}: a word and its numbers are expected, not \"{}\"", window_.name(), line_,
            characters_between(line.substr(0, valid_utf8_prefix(line)), 0, 40));
    return width;
  }
  void read_line(std::string_view line) {
    ++found_.read;
    require(promised_ == 0 || found_.read <= promised_, "{}: line {}: its header says {} vectors, and here is another",
            window_.name(), line_, promised_);
    std::string_view word = line;
    Index fields = 0;
    while (fields < width_ && !word.empty()) {
      take_last_field(word);
      ++fields;
    }
    if (word.empty()) --fields;  // the word itself
    require(fields == width_, "{}: line {}: it has {} numbers, not {}", window_.name(), line_, fields, width_);
    std::string_view front = word;
    require(word.find_first_of(" \t") == std::string_view::npos || !number_in(take_last_field(front)),
            "{}: line {}: it has more than {} numbers", window_.name(), line_, width_);
    if (!take(word)) return;
    const std::size_t begin = numbers_.size();
    numbers_.resize(begin + static_cast<std::size_t>(width_));
    for (std::size_t i = numbers_.size(); i > begin; --i) {
      const std::string_view field = take_last_field(line);
      const std::optional<Real> number = number_in(field);
      require(number.has_value(), "{}: line {}: \"{}\" is no finite number", window_.name(), line_,
              characters_between(field.substr(0, valid_utf8_prefix(field)), 0, 40));
      numbers_[i - 1] = *number;
    }
  }

  void read_binary() {
    const std::size_t bytes = static_cast<std::size_t>(width_) * sizeof(float);
    std::vector<float> vector(static_cast<std::size_t>(width_));
    for (; found_.read < promised_; ++found_.read) {
      const Index entry = found_.read + 1;
      while (window_.has(1) && window_.view()[0] == '\n') window_.use(1);
      const std::size_t length = window_.length_before(' ', kLongestWord);
      require(length < kLongestWord, "{}: entry {}: its word is longer than {} bytes; the entries before it are broken",
              window_.name(), entry, kLongestWord);
      require(window_.has(length + 1 + bytes), "{}: entry {} of {}: it is cut off", window_.name(), entry, promised_);
      if (take(window_.view().substr(0, length))) {
        std::memcpy(vector.data(), window_.view().data() + length + 1, bytes);
        for (const float value : vector) {
          require(std::isfinite(value), "{}: entry {}: {} is no finite number", window_.name(), entry, value);
          numbers_.push_back(static_cast<Real>(value));
        }
      }
      window_.use(length + 1 + bytes);
    }
    while (window_.has(1) && window_.view()[0] == '\n') window_.use(1);
    require(!window_.has(1), "{}: entry {}: its header says {} vectors, and here is more", window_.name(),
            promised_ + 1, promised_);
  }

  // Whether the vector of the word is to be kept; the word then is.
  bool take(std::string_view word) {
    if (!wanted_(word) || !taken_.emplace(word).second) return false;
    found_.words.emplace_back(word);
    return true;
  }

  Window window_;
  const std::function<bool(std::string_view)>& wanted_;
  WordVectors found_;
  std::unordered_set<std::string> taken_;
  std::vector<Real> numbers_;
  Index width_ = 0, promised_ = 0;  // promised: by the header, 0 without one
  Index line_ = 0;
  std::size_t used_ = 0;  // of the window, the line that was given last
};

}  // namespace

WordVectors read_word_vectors(const std::string& file, const std::function<bool(std::string_view)>& wanted) {
  return VectorReader(file, wanted).read();
}

}  // namespace heed
