#pragma once

#include <algorithm>
#include <functional>
#include <limits>
#include <span>
#include <string>
#include <vector>

#include "heed/base/real.h"

// What the tests of kernels share: every SIMD target, awkward sizes and places, memory that catches a kernel outside
// its range, distances in units of the last place.

namespace heed::test {

constexpr Real kInfinity = std::numeric_limits<Real>::infinity();
constexpr Real kNaN = std::numeric_limits<Real>::quiet_NaN();

// Runs body once for each SIMD target of this machine, with all kernels forced to it.
void on_every_target(const std::function<void()>& body);

// Every length from 0 to twice the widest vector and one more, then some larger odd ones.
const std::vector<Index>& awkward_lengths();

// Where a buffer stands in its memory: one element behind the start of a page, so never aligned for vectors and with
// guard values around it; or touching the end of a page behind which every access faults.
enum class Place { misaligned, at_fence };
constexpr Place kPlaces[] = {Place::misaligned, Place::at_fence};

// Bytes between two inaccessible pages. What is not part of the buffer is filled with ones (NaN to a kernel that reads
// it) and must still be so at the end.
class GuardedBytes {
 public:
  GuardedBytes(std::size_t size, std::size_t element, Place place);
  ~GuardedBytes();
  GuardedBytes(const GuardedBytes&) = delete;
  GuardedBytes& operator=(const GuardedBytes&) = delete;
  void* data() const { return data_; }

 private:
  unsigned char *mapping_, *data_;
  std::size_t size_, room_;
};

template <class T>
class Guarded {
 public:
  Guarded(Index size, Place place)
      : size_(size), bytes_(static_cast<std::size_t>(size) * sizeof(T), sizeof(T), place) {}
  Guarded(const std::vector<T>& values, Place place) : Guarded(static_cast<Index>(values.size()), place) {
    std::copy(values.begin(), values.end(), data());
  }
  T* data() const { return static_cast<T*>(bytes_.data()); }
  Index size() const { return size_; }
  T& operator[](Index i) const { return data()[i]; }
  std::vector<T> values() const { return {data(), data() + size_}; }

 private:
  Index size_;
  GuardedBytes bytes_;
};
using Buffer = Guarded<Real>;

// The same numbers at every run.
std::vector<Real> normal_values(Index n, std::uint64_t seed, double scale = 1);
std::vector<Real> uniform_values(Index n, std::uint64_t seed, double low, double high);

// |got - want| in units of the last place of `want` as a Real. 0 if both are NaN or the same infinity, infinity if only
// one is. `want` beyond the range of Real counts as infinity.
double ulps(Real got, double want);

// Element by element: at most `most` ulps; or at most `most` half-ulps (epsilon / 2) of magnitude(i), which states what
// the rounding errors of element i are relative to. NaN and infinity must be met exactly.
void expect_ulps(std::span<const Real> got, std::span<const Real> want, double most);
void expect_close(std::span<const Real> got, std::span<const Real> want, double most,
                  const std::function<double(Index)>& magnitude);
// The same numbers, NaN equal to NaN.
void expect_same(std::span<const Real> got, std::span<const Real> want);

// Runs it with 1, 2 and 3 threads: the same bits each time.
void expect_same_on_any_thread_count(const std::function<std::vector<Real>()>& run);

}  // namespace heed::test
