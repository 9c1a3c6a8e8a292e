#include "heed/data/sound_preview.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "heed/base/base64.h"
#include "heed/data/images/image.h"
#include "heed/data/sound_files.h"
#include "heed/data/sound_sense.h"

namespace heed {
namespace {

constexpr Index kMostColumns = 800;
constexpr double kQuiet = 0.1;  // this share of all numbers is black

// Neighbouring frames become one, their mean: [at most kMostColumns, width].
Tensor narrowed(const Tensor& features) {
  const Index frames = features.size(0), width = features.size(1);
  const Index together = (frames + kMostColumns - 1) / kMostColumns;
  if (together <= 1) return features;
  Tensor result(Shape{(frames + together - 1) / together, width}, Real{0});
  for (Index t = 0; t < frames; ++t) {
    const Index column = t / together, of = std::min(together, frames - column * together);
    for (Index i = 0; i < width; ++i)
      result.data()[column * width + i] += features.data()[t * width + i] / static_cast<Real>(of);
  }
  return result;
}

}  // namespace

std::string sound_preview(const Value& sound) {
  static const Spectrum spectrum({.energy = false});
  const Tensor features = narrowed(sound.frame_seconds > 0 ? sound.numbers.contiguous()
                                                           : spectrum(one_channel(sound, SpectrumOptions().rate)));
  const Index columns = features.size(0), rows = features.size(1);
  if (features.size() == 0) return "";
  std::vector<Real> sorted(features.data(), features.data() + features.size());
  const auto quiet = sorted.begin() + static_cast<Index>(kQuiet * static_cast<double>(sorted.size() - 1));
  std::nth_element(sorted.begin(), quiet, sorted.end());
  const Real low = *quiet, high = std::max(*std::max_element(quiet, sorted.end()), low + Real{1e-3F});
  Tensor pixels(Shape{rows, columns, 3});
  for (Index row = 0; row < rows; ++row)
    for (Index column = 0; column < columns; ++column) {
      const Real value = features.data()[column * rows + rows - 1 - row];
      std::fill_n(pixels.data() + (row * columns + column) * 3, 3,
                  std::clamp((value - low) / (high - low), Real{0}, Real{1}));
    }
  return "data:image/png;base64," + base64(png_of(pixels));
}

std::vector<double> sound_waveform(const Value& sound) {
  if (sound.frame_seconds > 0) return {};
  const std::vector<float> samples = one_channel(sound, sound.rate);
  std::vector<double> peaks(std::min(samples.size(), static_cast<std::size_t>(kMostColumns)), 0);
  for (std::size_t i = 0; i < samples.size(); ++i) {
    double& peak = peaks[i * peaks.size() / samples.size()];
    peak = std::max(peak, std::min(1.0, std::abs(static_cast<double>(samples[i]))));
  }
  return peaks;
}

std::string playable_sound(const Value& sound) {
  if (sound.frame_seconds > 0) return "";
  const double rate = SpectrumOptions().rate;
  return "data:audio/wav;base64," + base64(wav_bytes(one_channel(sound, rate), static_cast<Index>(rate)));
}

}  // namespace heed
