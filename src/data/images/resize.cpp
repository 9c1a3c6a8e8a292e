#include <algorithm>
#include <cmath>
#include <vector>

#include "heed/base/error.h"
#include "heed/base/threads.h"
#include "heed/data/images/image.h"

namespace heed {
namespace {

// Keys 1981, Cubic convolution interpolation for digital image processing, a = -1/2:
//   w(d) = (a+2)|d|³ - (a+3)d² + 1 for |d| < 1,  a|d|³ - 5ad² + 8a|d| - 4a for |d| < 2,  0 beyond.
double cubic(double distance) {
  constexpr double a = -0.5;
  const double d = std::abs(distance);
  if (d < 1) return ((a + 2) * d - (a + 3)) * d * d + 1;
  return d < 2 ? ((a * d - 5 * a) * d + 8 * a) * d - 4 * a : 0;
}

// Which inputs an output is the mean of, and their weights, which add up to 1.
struct Taps {
  Index first;
  std::vector<Real> weights;
};

// Pixel i covers [i, i+1). Where the axis is shrunk the cubic is stretched by as much.
std::vector<Taps> taps_of(Index from, Index to) {
  const double step = static_cast<double>(from) / static_cast<double>(to), stretch = std::max(1.0, step);
  std::vector<Taps> taps(static_cast<std::size_t>(to));
  for (Index o = 0; o < to; ++o) {
    const double centre = (static_cast<double>(o) + 0.5) * step;
    const Index first = std::max<Index>(0, static_cast<Index>(std::floor(centre - 2 * stretch)));
    const Index end = std::min(from, static_cast<Index>(std::ceil(centre + 2 * stretch)));
    std::vector<double> weights;
    double sum = 0;
    for (Index i = first; i < end; ++i)
      sum += weights.emplace_back(cubic((static_cast<double>(i) + 0.5 - centre) / stretch));
    Taps& here = taps[static_cast<std::size_t>(o)];
    here.first = first;
    for (const double weight : weights) here.weights.push_back(static_cast<Real>(weight / sum));
  }
  return taps;
}

constexpr Index kGrain = 32 * 1024;  // numbers that are worth a thread

// One axis of x [before, from, after] to [before, taps, after].
Tensor resize_axis(const Tensor& x, Index before, Index after, Index from, Index to) {
  const std::vector<Taps> taps = taps_of(from, to);
  Tensor y(Shape{before, to, after}, Real{0});
  parallel_for(before * to, 1 + kGrain * to / (from * after), [&](Index begin, Index end) {
    for (Index row = begin; row < end; ++row) {
      const Taps& here = taps[static_cast<std::size_t>(row % to)];
      Real* sum = y.data() + row * after;
      const Real* input = x.data() + (row / to * from + here.first) * after;
      for (const Real weight : here.weights) {
        for (Index i = 0; i < after; ++i) sum[i] += weight * input[i];
        input += after;
      }
    }
  });
  return y;
}

}  // namespace

Tensor resize(const Tensor& pixels, Index height, Index width) {
  require(pixels.rank() == 3 && pixels.size(2) == 3, "[resize] pixels are [height, width, 3], not {}", pixels.shape());
  const Index rows = pixels.size(0), columns = pixels.size(1);
  check_image_size("[resize]", rows, columns);
  check_image_size("[resize]", height, width);
  if (rows == height && columns == width) return pixels;
  Tensor resized = pixels.contiguous();
  // What lies between the two steps is kept small: a picture may be a line.
  if (height * columns <= rows * width) {
    resized = resize_axis(resized, 1, columns * 3, rows, height);
    resized = resize_axis(resized, height, 3, columns, width);
  } else {
    resized = resize_axis(resized, rows, 3, columns, width);
    resized = resize_axis(resized, 1, width * 3, rows, height);
  }
  for (Real& value : resized.values()) value = std::clamp<Real>(value, 0, 1);
  return resized.reshape(Shape{height, width, 3});
}

}  // namespace heed
