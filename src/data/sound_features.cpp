#include "heed/data/sound_features.h"

#include <fftw3.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <mutex>
#include <numbers>
#include <vector>

#include "heed/base/error.h"

namespace heed {
namespace {

constexpr double kSixteenBits = 32768, kPreemphasis = 0.97, kLifter = 22;
constexpr double kFloor = 1.1920929e-7;  // what logarithms are taken of, at least

double mel(double frequency) { return 1127 * std::log1p(frequency / 700); }

// The real Fourier transform of one length. Only the planning has to be done by one thread at a time.
class FourierTransform {
 public:
  struct Free {
    void operator()(void* memory) const { fftw_free(memory); }
  };
  // Memory of one frame, for each thread its own.
  struct Frame {
    explicit Frame(std::size_t length)
        : samples(fftw_alloc_real(length)), spectrum(fftw_alloc_complex(length / 2 + 1)) {}
    std::unique_ptr<double[], Free> samples;
    std::unique_ptr<fftw_complex[], Free> spectrum;
  };

  explicit FourierTransform(std::size_t length) : length_(length) {
    const Frame frame(length);
    const std::lock_guard lock(planning());
    plan_ = fftw_plan_dft_r2c_1d(static_cast<int>(length), frame.samples.get(), frame.spectrum.get(), FFTW_ESTIMATE);
  }
  ~FourierTransform() {
    const std::lock_guard lock(planning());
    fftw_destroy_plan(plan_);
  }
  FourierTransform(const FourierTransform&) = delete;
  FourierTransform& operator=(const FourierTransform&) = delete;

  std::size_t length() const { return length_; }
  void operator()(Frame& frame) const { fftw_execute_dft_r2c(plan_, frame.samples.get(), frame.spectrum.get()); }

 private:
  static std::mutex& planning() {
    static std::mutex mutex;
    return mutex;
  }
  std::size_t length_;
  fftw_plan plan_;
};

// One triangle on the mel scale: the weights of some neighbouring lines of the spectrum.
struct Filter {
  std::size_t first = 0;
  std::vector<double> weights;
};

std::vector<Filter> mel_filters(const SpectrumOptions& options, std::size_t length) {
  const double low = mel(options.lowest),
               step = (mel(options.rate / 2) - low) / static_cast<double>(options.filters + 1);
  std::vector<Filter> filters(static_cast<std::size_t>(options.filters));
  for (std::size_t b = 0; b < filters.size(); ++b) {
    const double left = low + static_cast<double>(b) * step, right = left + 2 * step;
    for (std::size_t k = 0; k < length / 2; ++k) {
      const double at = mel(static_cast<double>(k) * options.rate / static_cast<double>(length));
      if (at <= left || at >= right) continue;
      if (filters[b].weights.empty()) filters[b].first = k;
      filters[b].weights.push_back(std::min(at - left, right - at) / step);
    }
    require(!filters[b].weights.empty(), "[sound] {} filters are too many for {} Hz: the one number {} is empty",
            options.filters, options.rate, b);
  }
  return filters;
}

// c_i = Σ_b dct[i][b] m_b, with the lifter in it.
std::vector<std::vector<double>> cosine_rows(const SpectrumOptions& options) {
  using std::numbers::pi;
  const auto filters = static_cast<double>(options.filters);
  std::vector<std::vector<double>> rows(static_cast<std::size_t>(options.cepstra));
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const auto order = static_cast<double>(i);
    const double lift = 1 + 0.5 * kLifter * std::sin(pi * order / kLifter);
    for (Index b = 0; b < options.filters; ++b)
      rows[i].push_back(lift * std::sqrt((i == 0 ? 1 : 2) / filters) *
                        std::cos(pi / filters * (static_cast<double>(b) + 0.5) * order));
  }
  return rows;
}

// Whole ones, as Kaldi counts them; 0.025 · 16000 is a little less than 400 to some compilers.
std::size_t samples_of(double seconds, double rate) { return static_cast<std::size_t>(seconds * rate + 1e-6); }

std::size_t power_of_two(std::size_t at_least) {
  std::size_t power = 1;
  while (power < at_least) power *= 2;
  return power;
}

void check(const SpectrumOptions& options) {
  require(options.rate >= 1000 && options.rate <= 1e6, "[sound] a rate of {} Hz is outside 1000..1000000",
          options.rate);
  require(options.frame > 0 && options.frame <= 1 && options.step > 0 && options.step <= options.frame,
          "[sound] frames of {} s every {} s: a frame has at most 1 s, and a step is within a frame", options.frame,
          options.step);
  require(samples_of(options.frame, options.rate) >= 2 && samples_of(options.step, options.rate) >= 1,
          "[sound] frames of {} s every {} s have no samples at {} Hz", options.frame, options.step, options.rate);
  require(options.filters >= 1 && options.filters <= 1000, "[sound] there are 1 to 1000 filters, not {}",
          options.filters);
  require(options.lowest >= 0 && options.lowest < options.rate / 2,
          "[sound] the lowest frequency is below {} Hz, not {}", options.rate / 2, options.lowest);
  require(options.cepstra >= 0 && options.cepstra <= options.filters,
          "[sound] {} cepstra of {} filters: there are no more", options.cepstra, options.filters);
}

// y_t = Σ_n kernel_n x_{t+n}, n from -half to half, with the first and the last frame repeated.
Tensor filtered(const Tensor& features, std::span<const double> kernel) {
  const Index frames = features.size(0), width = features.size(1), half = static_cast<Index>(kernel.size()) / 2;
  Tensor result(features.shape(), Real{0});
  for (Index t = 0; t < frames; ++t)
    for (Index n = -half; n <= half; ++n) {
      const auto weight = static_cast<Real>(kernel[static_cast<std::size_t>(n + half)]);
      const Real* const from = features.data() + std::clamp<Index>(t + n, 0, frames - 1) * width;
      for (Index i = 0; i < width; ++i) result.data()[t * width + i] += weight * from[i];
    }
  return result;
}

}  // namespace

class Spectrum::Machine {
 public:
  explicit Machine(const SpectrumOptions& options)
      : options_(options),
        length_((check(options), samples_of(options.frame, options.rate))),
        step_(samples_of(options.step, options.rate)),
        transform_(power_of_two(length_)),
        filters_(mel_filters(options, transform_.length())),
        cosines_(cosine_rows(options)) {
    for (std::size_t n = 0; n < length_; ++n)
      window_.push_back(std::pow(
          0.5 - 0.5 * std::cos(2 * std::numbers::pi * static_cast<double>(n) / static_cast<double>(length_ - 1)),
          0.85));
  }

  Index width() const { return options_.cepstra > 0 ? options_.cepstra : options_.filters + (options_.energy ? 1 : 0); }
  std::size_t length() const { return length_; }

  Tensor features(std::span<const float> samples) const {
    const std::size_t frames = samples.size() < length_ ? 0 : 1 + (samples.size() - length_) / step_;
    Tensor result(Shape{static_cast<Index>(frames), width()});
    FourierTransform::Frame frame(transform_.length());
    std::vector<double> bands(filters_.size());
    for (std::size_t t = 0; t < frames; ++t) {
      const double energy = load(samples.subspan(t * step_, length_), frame);
      transform_(frame);
      measure(frame, bands);
      write(energy, bands, result.data() + static_cast<Index>(t) * width());
    }
    return result;
  }

 private:
  // Fills the frame with what is transformed, and gives its energy.
  double load(std::span<const float> samples, FourierTransform::Frame& frame) const {
    double* const x = frame.samples.get();
    double sum = 0, squares = 0;
    for (std::size_t n = 0; n < length_; ++n) sum += x[n] = kSixteenBits * static_cast<double>(samples[n]);
    const double mean = sum / static_cast<double>(length_);
    for (std::size_t n = 0; n < length_; ++n) {
      x[n] -= mean;
      squares += x[n] * x[n];
    }
    for (std::size_t n = length_ - 1; n > 0; --n) x[n] = window_[n] * (x[n] - kPreemphasis * x[n - 1]);
    x[0] = window_[0] * (x[0] - kPreemphasis * x[0]);
    std::fill(x + length_, x + transform_.length(), 0.0);
    return std::log(std::max(squares, kFloor));
  }

  void measure(const FourierTransform::Frame& frame, std::vector<double>& bands) const {
    for (std::size_t b = 0; b < bands.size(); ++b) {
      double sum = 0;
      const fftw_complex* line = frame.spectrum.get() + filters_[b].first;
      for (const double weight : filters_[b].weights) {
        sum += weight * ((*line)[0] * (*line)[0] + (*line)[1] * (*line)[1]);
        ++line;
      }
      bands[b] = std::log(std::max(sum, kFloor));
    }
  }

  void write(double energy, const std::vector<double>& bands, Real* row) const {
    if (cosines_.empty()) {
      if (options_.energy) *row++ = static_cast<Real>(energy);
      std::transform(bands.begin(), bands.end(), row, [](double band) { return static_cast<Real>(band); });
      return;
    }
    for (std::size_t i = 0; i < cosines_.size(); ++i) {
      double sum = 0;
      for (std::size_t b = 0; b < bands.size(); ++b) sum += cosines_[i][b] * bands[b];
      row[i] = static_cast<Real>(i == 0 && options_.energy ? energy : sum);
    }
  }

  SpectrumOptions options_;
  std::size_t length_, step_;
  FourierTransform transform_;
  std::vector<Filter> filters_;
  std::vector<std::vector<double>> cosines_;
  std::vector<double> window_;
};

Spectrum::Spectrum(const SpectrumOptions& options) : machine_(std::make_unique<Machine>(options)) {}
Spectrum::~Spectrum() = default;
Index Spectrum::width() const { return machine_->width(); }
Index Spectrum::frame_samples() const { return static_cast<Index>(machine_->length()); }
Tensor Spectrum::operator()(std::span<const float> samples) const { return machine_->features(samples); }

Tensor with_deltas(const Tensor& features, Index order, DeltaEnds ends) {
  require(features.rank() == 2, "[deltas] features are [frames, width], not {}", features.shape());
  require(order >= 0 && order <= 4, "[deltas] the order is 0 to 4, not {}", order);
  constexpr std::array<double, 5> kSlope = {-0.2, -0.1, 0, 0.1, 0.2};
  const Index frames = features.size(0), width = features.size(1);
  Tensor result(Shape{frames, (1 + order) * width});
  const Tensor given = features.contiguous();
  Tensor part = given;
  std::vector<double> kernel = {1};  // of Kaldi's: the slope, as often as the order says
  for (Index n = 0; n <= order; ++n) {
    for (Index t = 0; t < frames; ++t)
      std::copy_n(part.data() + t * width, width, result.data() + (t * (1 + order) + n) * width);
    if (n == order) break;
    std::vector<double> twice(kernel.size() + kSlope.size() - 1, 0.0);
    for (std::size_t i = 0; i < kernel.size(); ++i)
      for (std::size_t j = 0; j < kSlope.size(); ++j) twice[i + j] += kernel[i] * kSlope[j];
    kernel = std::move(twice);
    part = ends == DeltaEnds::htk ? filtered(part, kSlope) : filtered(given, kernel);
  }
  return result;
}

}  // namespace heed
