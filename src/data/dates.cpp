#include "heed/data/dates.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>
#include <unordered_set>

namespace heed {
namespace {

constexpr std::array kMonths = {"January", "February", "March",     "April",   "May",      "June",
                                "July",    "August",   "September", "October", "November", "December"};
constexpr std::array kDays = {"Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"};

constexpr std::string_view kWritten = " .,0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
constexpr std::string_view kIso = "0123456789-";
constexpr std::size_t kIsoLength = 10;

std::int32_t written_id(char c) {
  const std::size_t at = kWritten.find(c);
  return at == std::string_view::npos ? 0 : static_cast<std::int32_t>(at + 1);
}

bool leap(int year) { return (year % 4 == 0 && year % 100 != 0) || year % 400 == 0; }

int days_in(int month, int year) {
  constexpr std::array lengths = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
  return month == 2 && leap(year) ? 29 : lengths[static_cast<std::size_t>(month - 1)];
}

// 0 = Monday (Zeller's congruence).
int weekday(int day, int month, int year) {
  if (month < 3) month += 12, --year;
  const int century = year / 100, rest = year % 100;
  const int zeller = (day + 13 * (month + 1) / 5 + rest + rest / 4 + century / 4 + 5 * century) % 7;
  return (zeller + 5) % 7;
}

const char* ordinal(int day) {
  if (day / 10 == 1) return "th";
  switch (day % 10) {
    case 1: return "st";
    case 2: return "nd";
    case 3: return "rd";
    default: return "th";
  }
}

}  // namespace

DatePair generate_date(RandomSequence& random) {
  const auto pick = [&](int low, int high) {
    return low + static_cast<int>(random.below(static_cast<std::uint64_t>(high - low + 1)));
  };
  const int year = pick(1900, 2099), month = pick(1, 12), day = pick(1, days_in(month, year));
  const std::string name = kMonths[static_cast<std::size_t>(month - 1)];
  const std::string brief = name.substr(0, 3);
  const std::string weekday_name = kDays[static_cast<std::size_t>(weekday(day, month, year))];
  std::string written;
  switch (pick(0, 8)) {
    case 0: written = fmt::format("{} {} {}", day, name, year); break;
    case 1: written = fmt::format("{} {}, {}", name, day, year); break;
    case 2: written = fmt::format("the {}{} of {}, {}", day, ordinal(day), name, year); break;
    case 3: written = fmt::format("{}, {} {} {}", weekday_name, day, name, year); break;
    case 4: written = fmt::format("{} {}{} {}", brief, day, ordinal(day), year); break;
    case 5: written = fmt::format("{}, {} {}, {}", weekday_name.substr(0, 3), brief, day, year); break;
    case 6: written = fmt::format("in {} of {} on the {}{}", name, year, day, ordinal(day)); break;
    case 7: written = fmt::format("{}.{}.{}", day, month, year); break;
    default: written = fmt::format("{}, the {} of {}", year, day, name); break;
  }
  return {written, fmt::format("{:04}-{:02}-{:02}", year, month, day)};
}

std::vector<DatePair> generate_dates(std::size_t count, std::uint64_t seed) {
  RandomSequence random(RandomKey{seed, 0});
  std::vector<DatePair> pairs;
  std::unordered_set<std::string> seen;
  while (pairs.size() < count) {
    DatePair pair = generate_date(random);
    if (seen.insert(pair.written).second) pairs.push_back(std::move(pair));
  }
  return pairs;
}

Index written_alphabet_size() { return static_cast<Index>(kWritten.size()) + 1; }
Index iso_alphabet_size() { return static_cast<Index>(kIso.size()); }

Ids written_ids(const std::string& written) {
  Ids ids(Shape{static_cast<Index>(written.size())});
  std::transform(written.begin(), written.end(), ids.data(), written_id);
  return ids;
}

std::string iso_text(const Ids& ids) {
  std::string text;
  for (const std::int32_t id : ids.values()) text += kIso[static_cast<std::size_t>(id)];
  return text;
}

DateBatch make_date_batch(std::span<const DatePair> pairs) {
  const Index batch = static_cast<Index>(pairs.size());
  std::size_t longest = 1;
  for (const DatePair& pair : pairs) longest = std::max(longest, pair.written.size());
  DateBatch result{Ids(Shape{batch, static_cast<Index>(longest)}, 0), Ids(Shape{batch}),
                   Ids(Shape{batch, static_cast<Index>(kIsoLength)})};
  for (std::size_t b = 0; b < pairs.size(); ++b) {
    const auto& [written, iso] = pairs[b];
    require(iso.size() == kIsoLength && iso.find_first_not_of(kIso) == std::string::npos,
            "[dates] {} is not an ISO date", iso);
    result.lengths.data()[b] = static_cast<std::int32_t>(written.size());
    std::transform(written.begin(), written.end(), result.written.data() + b * longest, written_id);
    std::transform(iso.begin(), iso.end(), result.iso.data() + b * kIsoLength,
                   [](char c) { return static_cast<std::int32_t>(kIso.find(c)); });
  }
  return result;
}

}  // namespace heed
