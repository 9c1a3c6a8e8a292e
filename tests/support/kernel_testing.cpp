#include "support/kernel_testing.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "heed/base/error.h"
#include "heed/base/random.h"
#include "heed/base/threads.h"
#include "heed/kernels/dispatch.h"

namespace heed::test {
namespace {

constexpr unsigned char kGuard = 0xFF;

std::size_t page_size() {
  static const auto size = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  return size;
}

std::string describe(Index i, Real got, Real want) {
  return fmt::format("element {}: got {:.9g}, want {:.9g}", i, got, want);
}

// Ends a comparison at the first element that differs: one line a failure is enough.
void compare(std::span<const Real> got, std::span<const Real> want, const std::function<bool(Index)>& same) {
  ASSERT_EQ(got.size(), want.size());
  for (std::size_t i = 0; i < got.size(); ++i) {
    const auto at = static_cast<Index>(i);
    ASSERT_TRUE(same(at)) << describe(at, got[i], want[i]);
  }
}

}  // namespace

void on_every_target(const std::function<void()>& body) {
  for (const std::string& target : kernels::simd_targets()) {
    SCOPED_TRACE(target);
    kernels::use_simd_target(target);
    body();
  }
  kernels::use_simd_target("");
}

const std::vector<Index>& awkward_lengths() {
  static const std::vector<Index> lengths = [] {
    std::vector<Index> all;
    for (Index n = 0; n <= 33; ++n) all.push_back(n);
    for (const Index n : {47, 63, 64, 65, 127, 257, 1001}) all.push_back(n);
    return all;
  }();
  return lengths;
}

GuardedBytes::GuardedBytes(std::size_t size, std::size_t element, Place place) : size_(size) {
  const std::size_t page = page_size();
  room_ = (size + element + page - 1) / page * page;
  void* memory = mmap(nullptr, room_ + 2 * page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  require(memory != MAP_FAILED, "[test] cannot map {} bytes", room_ + 2 * page);
  mapping_ = static_cast<unsigned char*>(memory);
  unsigned char* start = mapping_ + page;
  require(mprotect(start, room_, PROT_READ | PROT_WRITE) == 0, "[test] cannot open {} bytes", room_);
  std::memset(start, kGuard, room_);
  data_ = place == Place::misaligned ? start + element : start + room_ - size;
}

GuardedBytes::~GuardedBytes() {
  const unsigned char *start = mapping_ + page_size(), *end = start + room_;
  const auto untouched = [](unsigned char byte) { return byte == kGuard; };
  EXPECT_TRUE(std::all_of(start, static_cast<const unsigned char*>(data_), untouched)) << "written before the buffer";
  EXPECT_TRUE(std::all_of(static_cast<const unsigned char*>(data_ + size_), end, untouched))
      << "written behind the buffer";
  munmap(mapping_, room_ + 2 * page_size());
}

std::vector<Real> normal_values(Index n, std::uint64_t seed, double scale) {
  RandomSequence random(RandomKey{seed});
  std::vector<Real> values(static_cast<std::size_t>(n));
  for (Real& v : values) v = static_cast<Real>(scale * random.normal());
  return values;
}

std::vector<Real> uniform_values(Index n, std::uint64_t seed, double low, double high) {
  RandomSequence random(RandomKey{seed});
  std::vector<Real> values(static_cast<std::size_t>(n));
  for (Real& v : values) v = static_cast<Real>(low + (high - low) * random.uniform());
  return values;
}

double ulps(Real got, double want) {
  if (std::isnan(got) && std::isnan(want)) return 0;
  const Real rounded = static_cast<Real>(want);
  if (std::isinf(got) || std::isinf(rounded)) return got == rounded ? 0 : kInfinity;
  if (std::isnan(got) || std::isnan(want)) return kInfinity;
  const int lowest = std::numeric_limits<Real>::min_exponent - 1;
  const int exponent = want == 0 ? lowest : std::max(std::ilogb(want), lowest);
  const double place = std::ldexp(1.0, exponent - (std::numeric_limits<Real>::digits - 1));
  return std::abs(static_cast<double>(got) - want) / place;
}

void expect_ulps(std::span<const Real> got, std::span<const Real> want, double most) {
  compare(got, want, [&](Index i) {
    const auto at = static_cast<std::size_t>(i);
    return ulps(got[at], static_cast<double>(want[at])) <= most;
  });
}

void expect_close(std::span<const Real> got, std::span<const Real> want, double most,
                  const std::function<double(Index)>& magnitude) {
  constexpr double kHalfUlp = std::numeric_limits<Real>::epsilon() / 2;
  compare(got, want, [&](Index i) {
    const Real g = got[static_cast<std::size_t>(i)], w = want[static_cast<std::size_t>(i)];
    if (!std::isfinite(g) || !std::isfinite(w)) return g == w || (std::isnan(g) && std::isnan(w));
    return std::abs(static_cast<double>(g) - static_cast<double>(w)) <= most * kHalfUlp * magnitude(i);
  });
}

void expect_same(std::span<const Real> got, std::span<const Real> want) { expect_ulps(got, want, 0); }

void expect_same_on_any_thread_count(const std::function<std::vector<Real>()>& run) {
  const int before = thread_count();
  set_thread_count(1);
  const std::vector<Real> alone = run();
  for (const int count : {2, 3}) {
    set_thread_count(count);
    const std::vector<Real> shared = run();
    EXPECT_EQ(alone.size(), shared.size());
    EXPECT_EQ(std::memcmp(alone.data(), shared.data(), alone.size() * sizeof(Real)), 0)
        << "the result differs with " << count << " threads";
  }
  set_thread_count(before);
}

}  // namespace heed::test
