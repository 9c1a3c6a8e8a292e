#pragma once

#include <memory>
#include <span>
#include <string>

#include "heed/tensor/tensor.h"

// What is heard at each moment of a sound, as numbers, in the way of Kaldi (compute-fbank-feats, compute-mfcc-feats
// with dither 0), so that its models and tables can be compared with. A frame of 25 ms every 10 ms, as samples x of 16
// bits:
//   x <- x - mean(x),  e = ln Σ x²,  x_n <- x_n - 0.97 x_{n-1}
//   p = |FFT(w ∘ x)|²                    w_n = (1/2 - 1/2 cos(2πn / (L-1)))^0.85
//   m_b = ln Σ_k t_bk p_k                triangles t on the scale mel(f) = 1127 ln(1 + f / 700)
//   c = l ∘ D m                          D: the orthonormal cosine transform, l_i = 1 + 11 sin(πi / 22)
// Davis, Mermelstein 1980, Comparison of parametric representations for monosyllabic word recognition.

namespace heed {

struct SpectrumOptions {
  double rate = 16'000;                // samples per second
  double frame = 0.025, step = 0.010;  // seconds
  Index filters = 40;                  // triangles between `lowest` and half the rate
  double lowest = 20;                  // Hz
  Index cepstra = 0;                   // 0: the filters themselves, m; else so many of c
  bool energy = true;                  // e in front of m, or in the place of c_0
};

// The features of sounds of one rate. Immutable, and safe to use from several threads.
class Spectrum {
 public:
  // Numbers that make no sense together are an Error.
  explicit Spectrum(const SpectrumOptions& options);
  ~Spectrum();

  Index width() const;
  // Samples that the first frame needs; each further one needs `step` more.
  Index frame_samples() const;
  // Of one channel in -1..1: [frames, width], none for less than one frame.
  Tensor operator()(std::span<const float> samples) const;

 private:
  class Machine;
  std::unique_ptr<const Machine> machine_;
};

// How fast features change, and how fast that changes:
//   d_t = Σ_{n=1,2} n (c_{t+n} - c_{t-n}) / 10, with the first and the last frame repeated beyond the ends.
// HTK takes the deltas of the deltas, Kaldi filters the features themselves twice at once; they differ at the ends.
enum class DeltaEnds { htk, kaldi };
// [frames, width] -> [frames, (1 + order) width], the features themselves first.
Tensor with_deltas(const Tensor& features, Index order, DeltaEnds ends = DeltaEnds::htk);

}  // namespace heed
