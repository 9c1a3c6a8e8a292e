#include <algorithm>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstring>
#include <string_view>

#include "heed/align/shortlist.h"
#include "heed/base/error.h"
#include "heed/data/samples.h"
#include "heed/data/text_file.h"

// The two forms in which Marian keeps lexical shortlists (src/data/shortlist.cpp there).
//   text    lines "target source probability"; a line with the word NULL, which is no word, is passed over
//   binary  little-endian: magic, checksum, first, best, number of offsets, number of ids, each in 64 bits; the offsets
//           in 64 bits, one per source word and the end; the target ids in 32 bits, rising for each source word. The
//           checksum is over the 64-bit words from `first` on.

namespace heed {
namespace {

constexpr std::uint64_t kMagic = 0xF11A48D5013417F5;
struct Header {
  std::uint64_t magic = kMagic, checksum = 0, first = 0, best = 0, offsets = 0, ids = 0;
};
static_assert(std::endian::native == std::endian::little);

std::uint64_t checksum_of(std::string_view bytes) {
  std::uint64_t sum = 0;
  for (std::size_t at = offsetof(Header, first); at + sizeof(std::uint64_t) <= bytes.size(); at += sizeof(sum)) {
    std::uint64_t word = 0;
    std::memcpy(&word, bytes.data() + at, sizeof(word));
    sum ^= word + 0x9e3779b9U + (sum << 6U) + (sum >> 2U);
  }
  return sum;
}

bool is_binary(const std::string& file) {
  ByteReader reader(file);
  char bytes[sizeof(kMagic)];
  std::size_t size = 0;
  while (size < sizeof(bytes)) {
    const std::size_t more = reader.read(std::span(bytes).subspan(size));
    if (more == 0) break;
    size += more;
  }
  return size == sizeof(bytes) && std::memcmp(bytes, &kMagic, sizeof(bytes)) == 0;
}

std::unordered_map<std::string, std::int32_t> numbers_of(const Vocabulary& vocabulary) {
  std::unordered_map<std::string, std::int32_t> numbers;
  for (std::int32_t id = 0; id < vocabulary.size(); ++id) numbers.emplace(vocabulary.piece(id), id);
  return numbers;
}

template <class Number>
void append(std::string& bytes, std::span<const Number> numbers) {
  bytes.append(reinterpret_cast<const char*>(numbers.data()), numbers.size_bytes());
}

}  // namespace

Shortlist Shortlist::read(const std::string& file, const Vocabulary& source, const Vocabulary& target,
                          const Limits& limits) {
  if (is_binary(file)) return read_binary(file, read_unpacked(file), source, target);
  return read_text(file, source, target, limits);
}

Shortlist Shortlist::read_text(const std::string& file, const Vocabulary& source, const Vocabulary& target,
                               const Limits& limits) {
  const auto sources = numbers_of(source), targets = numbers_of(target);
  std::vector<LinkCounts::Entry> entries;
  LineReader lines(file);
  Index unknown = 0;
  for (std::string line; lines.next(line);) {
    const std::vector<std::string_view> fields = words_of_line(line);
    if (fields.empty()) continue;
    require(fields.size() == 3, "{}: line {} has {} fields, not a target word, a source word and a probability", file,
            lines.number(), fields.size());
    float probability = 0;
    const auto [end, error] = std::from_chars(fields[2].begin(), fields[2].end(), probability);
    require(error == std::errc() && end == fields[2].end() && probability >= 0 && probability <= 1.001F,
            "{}: line {}: {} is no probability", file, lines.number(), fields[2]);
    if (fields[0] == "NULL" || fields[1] == "NULL") continue;
    const auto from = sources.find(std::string(fields[1])), to = targets.find(std::string(fields[0]));
    if (from == sources.end() || to == targets.end()) {
      ++unknown;
    } else {
      entries.push_back({from->second, to->second, probability});
    }
  }
  require(!entries.empty() && !SampleReport::are_too_many(unknown, unknown + std::ssize(entries)),
          "{}: {} of its {} pairs have a word that the vocabularies lack; it was made for others", file, unknown,
          unknown + std::ssize(entries));
  return Shortlist(std::move(entries), source, target, limits);
}

Shortlist Shortlist::read_binary(const std::string& file, std::string_view bytes, const Vocabulary& source,
                                 const Vocabulary& target) {
  Header header;
  require(bytes.size() >= sizeof(header), "{}: it is cut off inside its header", file);
  std::memcpy(&header, bytes.data(), sizeof(header));
  const std::size_t rest = bytes.size() - sizeof(header);
  require(header.offsets <= rest / sizeof(std::uint64_t) &&
              header.ids == (rest - header.offsets * sizeof(std::uint64_t)) / sizeof(std::int32_t) &&
              rest % sizeof(std::int32_t) == 0,
          "{}: it has {} bytes, which are not {} offsets and {} ids", file, bytes.size(), header.offsets, header.ids);
  require(header.checksum == checksum_of(bytes), "{}: its checksum is wrong; it is damaged", file);
  Shortlist list(source, target);
  require(header.offsets == list.begins_.size(), "{}: it is for {} source words, but the vocabulary has {}", file,
          header.offsets == 0 ? 0 : header.offsets - 1, source.size());
  list.first_ = static_cast<std::size_t>(header.first), list.best_ = static_cast<std::size_t>(header.best);
  list.targets_.resize(static_cast<std::size_t>(header.ids));
  const char* at = bytes.data() + sizeof(header);
  std::memcpy(list.begins_.data(), at, list.begins_.size() * sizeof(std::uint64_t));
  at += list.begins_.size() * sizeof(std::uint64_t);
  if (!list.targets_.empty()) std::memcpy(list.targets_.data(), at, list.targets_.size() * sizeof(std::int32_t));
  require(list.begins_.front() == 0 && list.begins_.back() == header.ids && std::ranges::is_sorted(list.begins_),
          "{}: its offsets do not rise from 0 to the number of its ids, {}", file, header.ids);
  for (const std::int32_t id : list.targets_)
    require(id >= 0 && id < target.size(), "{}: it has the target word {}, but the vocabulary has {}", file, id,
            target.size());
  return list;
}

std::string Shortlist::binary() const {
  const Header header{.first = first_, .best = best_, .offsets = begins_.size(), .ids = targets_.size()};
  std::string bytes;
  append(bytes, std::span(&header, 1));
  append(bytes, std::span(begins_));
  append(bytes, std::span(targets_));
  const std::uint64_t checksum = checksum_of(bytes);
  std::memcpy(bytes.data() + offsetof(Header, checksum), &checksum, sizeof(checksum));
  return bytes;
}

}  // namespace heed
