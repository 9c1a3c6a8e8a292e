#include "heed/data/dates.h"

#include <fmt/format.h>

#include <array>
#include <unordered_set>

namespace heed {
namespace {

constexpr std::array kMonths = {"January", "February", "March",     "April",   "May",      "June",
                                "July",    "August",   "September", "October", "November", "December"};
constexpr std::array kDays = {"Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"};

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

}  // namespace heed
