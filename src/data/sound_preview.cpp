#include "heed/data/sound_preview.h"

#include <algorithm>
#include <cmath>
#include <span>
#include <vector>

#include "heed/base/base64.h"
#include "heed/data/images/image.h"
#include "heed/data/sound_files.h"
#include "heed/data/sound_sense.h"

namespace heed {
namespace {

constexpr Index kMostColumns = 800;
constexpr double kQuiet = 0.1;     // this share of all numbers is black
constexpr double kExtreme = 0.05;  // this share of a row of ready-made features is black, and as much of it is white

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

struct Scale {
  Real black, white;
  // The numbers below which these shares of all are.
  static Scale of(std::vector<Real> numbers, double black, double white) {
    const auto below = [&numbers](double share) {
      const auto place = numbers.begin() + std::llround(share * static_cast<double>(numbers.size() - 1));
      std::nth_element(numbers.begin(), place, numbers.end());
      return *place;
    };
    return {below(black), below(white)};
  }
  Real operator()(Real x) const {
    return std::clamp((x - black) / std::max(white - black, Real{1e-3F}), Real{0}, Real{1});
  }
};

// One for all rows of a spectrogram. What ready-made features are is not known, and the numbers of MFCC are the smaller
// the further up they stand, so each row has its own.
std::vector<Scale> scales_of(const Tensor& features, bool ready_made) {
  const Index columns = features.size(0), rows = features.size(1);
  if (!ready_made)
    return std::vector(static_cast<std::size_t>(rows),
                       Scale::of({features.values().begin(), features.values().end()}, kQuiet, 1));
  std::vector<Scale> scales;
  std::vector<Real> row(static_cast<std::size_t>(columns));
  for (Index i = 0; i < rows; ++i) {
    for (Index t = 0; t < columns; ++t) row[static_cast<std::size_t>(t)] = features.data()[t * rows + i];
    scales.push_back(Scale::of(row, kExtreme, 1 - kExtreme));
  }
  return scales;
}

}  // namespace

std::string sound_preview(const Value& sound) {
  static const Spectrum spectrum({.energy = false});
  const bool ready_made = sound.frame_seconds > 0;
  const Tensor features =
      narrowed(ready_made ? sound.numbers.contiguous() : spectrum(one_channel(sound, SpectrumOptions().rate)));
  const Index columns = features.size(0), rows = features.size(1);
  if (features.size() == 0) return "";
  const std::vector<Scale> scales = scales_of(features, ready_made);
  Tensor pixels(Shape{rows, columns, 3});
  for (Index row = 0; row < rows; ++row)
    for (Index column = 0; column < columns; ++column) {
      const Index from_below = rows - 1 - row;
      std::fill_n(pixels.data() + (row * columns + column) * 3, 3,
                  scales[static_cast<std::size_t>(from_below)](features.data()[column * rows + from_below]));
    }
  return "data:image/png;base64," + base64(png_of(pixels));
}

std::vector<double> sound_waveform(const Value& sound, double begin, double end) {
  if (sound.frame_seconds > 0) return {};
  const std::vector<float> all = one_channel(sound, sound.rate);
  const auto place = [&](double seconds) {
    return static_cast<std::size_t>(std::clamp(std::round(seconds * sound.rate), 0.0, static_cast<double>(all.size())));
  };
  const std::size_t first = place(begin), last = std::max(first, place(end));
  const std::span samples = std::span(all).subspan(first, last - first);
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
