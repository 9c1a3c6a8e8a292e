#include "heed/kernels/convolution.h"

#include <gtest/gtest.h>

#include <thread>

#include "heed/base/random.h"
#include "heed/base/threads.h"
#include "heed/kernels/ref/convolution.h"
#include "heed/tensor/tensor.h"

namespace heed::kernels {
namespace {

Tensor uniform(Index size, std::uint64_t seed) {
  Tensor result(Shape{size});
  RandomSequence random(RandomKey{seed, 3});
  for (Real& value : result.values()) value = static_cast<Real>(2 * random.uniform() - 1);
  return result;
}

// With `after` positions of padding behind the last input.
Window window(Index input, Index kernel, Index stride, Index dilation, Index before, Index after) {
  return {input, (input + before + after - dilation * (kernel - 1) - 1) / stride + 1, kernel, stride, dilation, before};
}

// Sums of `terms` products of numbers in [-1, 1): the rounding of each step is below ε·terms, and the errors of many
// steps largely cancel.
void expect_sums_close(const Tensor& got, const Tensor& expected, Index terms, const char* what) {
  const Real tolerance = std::numeric_limits<Real>::epsilon() * static_cast<Real>(terms + 1);
  for (Index i = 0; i < got.size(); ++i)
    ASSERT_NEAR(got.data()[i], expected.data()[i], tolerance) << what << " at " << i;
}

struct ConvolutionResults {
  Tensor y, dx, dw;
};

struct Data {
  Tensor x, w, bias, dy;
  Data(Index image, Index weight, Index out, Index result)
      : x(uniform(image, 1)), w(uniform(weight, 2)), bias(uniform(out, 3)), dy(uniform(result, 4)) {}
  ConvolutionResults empty() const { return {Tensor(dy.shape()), Tensor(x.shape()), Tensor(w.shape())}; }
};

Data data_of(const Conv1dSizes& s) {
  return {s.batch * s.time.input * s.in, s.time.kernel * s.in * s.out, s.out, s.batch * s.time.output * s.out};
}
Data data_of(const Conv2dSizes& s) {
  return {s.batch * s.height.input * s.width.input * s.in, s.height.kernel * s.width.kernel * s.in * s.out, s.out,
          s.batch * s.height.output * s.width.output * s.out};
}

ConvolutionResults run(const Conv1dSizes& s, const Data& d) {
  ConvolutionResults r = d.empty();
  // Old contents must not matter.
  Tensor scratch(Shape{conv1d_scratch(s)}, std::numeric_limits<Real>::quiet_NaN());
  conv1d(s, d.x.data(), d.w.data(), d.bias.data(), r.y.data(), scratch.data());
  conv1d_input_gradient(s, d.dy.data(), d.w.data(), r.dx.data(), scratch.data());
  conv1d_weight_gradient(s, d.x.data(), d.dy.data(), r.dw.data(), scratch.data());
  return r;
}
ConvolutionResults run(const Conv2dSizes& s, const Data& d) {
  ConvolutionResults r = d.empty();
  const auto scratch = [&](ConvPass pass) {
    return Tensor(Shape{conv2d_scratch(s, pass)}, std::numeric_limits<Real>::quiet_NaN());
  };
  conv2d(s, d.x.data(), d.w.data(), s.biased ? d.bias.data() : nullptr, r.y.data(), scratch(ConvPass::forward).data());
  conv2d_input_gradient(s, d.dy.data(), d.w.data(), r.dx.data(), scratch(ConvPass::input_gradient).data());
  conv2d_weight_gradient(s, d.x.data(), d.dy.data(), r.dw.data(), scratch(ConvPass::weight_gradient).data());
  return r;
}

ConvolutionResults reference(const Conv1dSizes& s, const Data& d) {
  ConvolutionResults r = d.empty();
  ref::conv1d(s, d.x.data(), d.w.data(), d.bias.data(), r.y.data());
  ref::conv1d_input_gradient(s, d.dy.data(), d.w.data(), r.dx.data());
  ref::conv1d_weight_gradient(s, d.x.data(), d.dy.data(), r.dw.data());
  return r;
}
ConvolutionResults reference(const Conv2dSizes& s, const Data& d) {
  ConvolutionResults r = d.empty();
  ref::conv2d(s, d.x.data(), d.w.data(), s.biased ? d.bias.data() : nullptr, r.y.data());
  ref::conv2d_input_gradient(s, d.dy.data(), d.w.data(), r.dx.data());
  ref::conv2d_weight_gradient(s, d.x.data(), d.dy.data(), r.dw.data());
  return r;
}

template <class Sizes>
void expect_like_reference(const Sizes& s) {
  const Data data = data_of(s);
  const ConvolutionResults got = run(s, data), expected = reference(s, data);
  const Index taps = s.in == 0 || s.out == 0 ? 0 : data.w.size() / (s.in * s.out);
  expect_sums_close(got.y, expected.y, taps * s.in, "y");
  expect_sums_close(got.dx, expected.dx, taps * s.out, "dx");
  expect_sums_close(got.dw, expected.dw, s.out == 0 ? 0 : data.dy.size() / s.out, "dw");
}

TEST(Window, TellsRealTapsFromPadding) {
  for (Index input : {1, 2, 5})
    for (Index kernel : {1, 2, 4})
      for (Index stride : {1, 3})
        for (Index dilation : {1, 2, 7})
          for (Index before : {0, 1, 9}) {
            const Window axis{input, 4, kernel, stride, dilation, before};
            for (Index o = 0; o < axis.output; ++o) {
              const auto [begin, end] = axis.inside(o);
              ASSERT_LE(0, begin);
              ASSERT_LE(begin, end);
              ASSERT_LE(end, kernel);
              for (Index tap = 0; tap < kernel; ++tap) {
                const Index position = axis.position(o, tap);
                ASSERT_EQ(tap >= begin && tap < end, position >= 0 && position < input);
              }
            }
          }
}

const Conv1dSizes kConv1d[] = {
    {2, window(9, 3, 1, 1, 1, 1), 5, 7},      {3, window(11, 4, 1, 1, 1, 2), 17, 33},  // even kernel
    {3, window(13, 3, 2, 1, 0, 0), 8, 16},                                             // the last input is read
    {3, window(14, 3, 2, 1, 0, 0), 8, 16},                                             // the last input is not
    {2, window(7, 3, 3, 2, 4, 0), 3, 5},                                               // causal, dilated, strided
    {1, window(4, 2, 1, 9, 9, 0), 3, 2},       // only one tap ever reads an input
    {5, window(6, 1, 1, 1, 0, 0), 19, 4},      // plain product
    {2, window(6, 1, 2, 1, 0, 0), 19, 4},      // every other step
    {4, window(50, 31, 1, 1, 15, 15), 1, 10},  // location features
    {3, window(70, 3, 1, 1, 1, 1), 601, 5},    // columns in pieces that cut a sequence
    {1, window(1, 1, 1, 1, 0, 0), 1, 1},      {2, window(3, 2, 1, 1, 5, 5), 2, 3},  // windows of padding alone
    {0, window(9, 3, 1, 1, 1, 1), 5, 7},                                            // nothing at all: zero gradients
    {2, window(9, 3, 1, 1, 1, 1), 0, 7},                                            // the bias alone
    {2, window(9, 3, 1, 1, 1, 1), 5, 0},
};

TEST(Conv1dKernel, AgreesWithTheScalarTwin) {
  for (const Conv1dSizes& sizes : kConv1d) {
    SCOPED_TRACE(&sizes - kConv1d);
    expect_like_reference(sizes);
  }
}

const Conv2dSizes kConv2d[] = {
    {2, window(7, 3, 1, 1, 1, 1), window(9, 3, 1, 1, 1, 1), 3, 5, true},
    {2, window(7, 3, 1, 1, 1, 1), window(9, 3, 1, 1, 1, 1), 16, 32, false},
    {1, window(8, 2, 2, 1, 0, 0), window(5, 3, 1, 1, 0, 0), 17, 33, true},
    {3, window(11, 3, 2, 2, 2, 2), window(10, 5, 3, 1, 1, 1), 7, 19, true},
    {2, window(6, 1, 1, 1, 0, 0), window(6, 1, 1, 1, 0, 0), 31, 8, false},
    {2, window(4, 3, 1, 1, 4, 4), window(4, 3, 1, 1, 4, 4), 5, 6, true},  // windows of padding alone
    {1, window(1, 1, 1, 1, 0, 0), window(1, 1, 1, 1, 0, 0), 1, 1, true},
    {2, window(9, 9, 5, 1, 3, 3), window(12, 7, 4, 1, 3, 3), 4, 24, true},
    {0, window(7, 3, 1, 1, 1, 1), window(9, 3, 1, 1, 1, 1), 3, 5, true},
    {2, window(7, 3, 1, 1, 1, 1), window(9, 3, 1, 1, 1, 1), 0, 5, true},
    {2, window(7, 3, 1, 1, 1, 1), window(9, 3, 1, 1, 1, 1), 3, 0, false},
};

TEST(Conv2dKernel, AgreesWithTheScalarTwin) {
  for (const Conv2dSizes& sizes : kConv2d) {
    SCOPED_TRACE(&sizes - kConv2d);
    expect_like_reference(sizes);
    expect_like_reference(sizes);  // the kept primitive
  }
}

TEST(ConvolutionKernels, RunOnManyThreadsAtOnce) {
  std::vector<std::thread> workers;
  for (int worker = 0; worker < 4; ++worker)
    workers.emplace_back([worker] {
      set_thread_count(1 + worker % 2);
      for (int round = 0; round < 3; ++round) {
        for (const Conv1dSizes& sizes : kConv1d) expect_like_reference(sizes);
        for (const Conv2dSizes& sizes : kConv2d) expect_like_reference(sizes);
      }
    });
  for (std::thread& worker : workers) worker.join();
}

bool same_bits(const Tensor& a, const Tensor& b) {
  return std::memcmp(a.data(), b.data(), static_cast<std::size_t>(a.size()) * sizeof(Real)) == 0;
}

TEST(ConvolutionKernels, DoNotDependOnTheThreadCount) {
  const int before = thread_count();
  const Conv1dSizes sequence{8, window(64, 3, 1, 1, 1, 1), 128, 96};
  const Conv2dSizes images{5, window(32, 3, 1, 1, 1, 1), window(32, 3, 1, 1, 1, 1), 64, 64, true};
  const Data sequence_data = data_of(sequence), image_data = data_of(images);
  set_thread_count(1);
  const ConvolutionResults sequence_alone = run(sequence, sequence_data), images_alone = run(images, image_data);
  set_thread_count(3);
  const ConvolutionResults sequence_shared = run(sequence, sequence_data), images_shared = run(images, image_data);
  set_thread_count(before);
  EXPECT_TRUE(same_bits(sequence_alone.y, sequence_shared.y));
  EXPECT_TRUE(same_bits(sequence_alone.dx, sequence_shared.dx));
  EXPECT_TRUE(same_bits(sequence_alone.dw, sequence_shared.dw));
  EXPECT_TRUE(same_bits(images_alone.y, images_shared.y));
  EXPECT_TRUE(same_bits(images_alone.dx, images_shared.dx));
  EXPECT_TRUE(same_bits(images_alone.dw, images_shared.dw));
}

}  // namespace
}  // namespace heed::kernels
