#include "heed/data/sound_sense.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "heed/base/error.h"
#include "heed/base/spelling.h"
#include "heed/base/threads.h"
#include "heed/data/sound_files.h"

namespace heed {
namespace {

const std::vector<std::string> kFeatureKinds = {"mel", "mfcc", "given"},
                               kNormalisations = {"corpus", "utterance", "none"};
constexpr double kLeastDeviation = 1e-5;  // a number that hardly varies is not blown up

void require_one_of(const std::vector<std::string>& known, const std::string& name, const char* field) {
  require(std::find(known.begin(), known.end(), name) != known.end(), "[sound] {} is one of {}, not {}{}", field,
          fmt::join(known, ", "), name, did_you_mean(name, known));
}

// Sums over frames, for mean and deviation of each number.
class Moments {
 public:
  void add(const Tensor& features) {
    const auto width = static_cast<std::size_t>(features.size(1));
    sums_.resize(width), squares_.resize(width);
    for (Index i = 0; i < features.size(); ++i) {
      const auto column = static_cast<std::size_t>(i) % width;
      const auto value = static_cast<double>(features.data()[i]);
      sums_[column] += value, squares_[column] += value * value;
    }
    frames_ += static_cast<double>(features.size(0));
  }
  double frames() const { return frames_; }
  Tensor mean() const {
    return each([&](std::size_t i) { return sums_[i] / frames_; });
  }
  Tensor deviation() const {
    return each([&](std::size_t i) {
      const double mean = sums_[i] / frames_, variance = squares_[i] / frames_ - mean * mean;
      return variance > kLeastDeviation * kLeastDeviation ? std::sqrt(variance) : 1;
    });
  }

 private:
  template <class Make>
  Tensor each(const Make& make) const {
    Tensor result(Shape{static_cast<Index>(sums_.size())});
    for (std::size_t i = 0; i < sums_.size(); ++i) result.data()[i] = static_cast<Real>(make(i));
    return result;
  }
  std::vector<double> sums_, squares_;
  double frames_ = 0;
};

void normalise(Tensor& features, const Tensor& mean, const Tensor& deviation) {
  const Index width = features.size(1);
  for (Index i = 0; i < features.size(); ++i)
    features.data()[i] = (features.data()[i] - mean.data()[i % width]) / deviation.data()[i % width];
}

}  // namespace

void SoundOptions::visit(Fields& field) {
  field("features", features, "what is heard: mel (log-mel filters and energy), mfcc, or given (files of features)");
  field("mel-filters", mel_filters, "filters between 20 Hz and half the rate");
  field("cepstra", cepstra, "coefficients of mfcc");
  field("sound-rate", sound_rate, "samples per second; sounds of other rates are resampled");
  field("frame-ms", frame_ms, "length of a frame of sound in milliseconds");
  field("step-ms", step_ms, "from one frame to the next, in milliseconds");
  field("deltas", deltas, "orders of differences beside the features: 2 adds how they change and how that changes");
  field("normalise", normalise, "mean 0 and variance 1 over the whole corpus, over each utterance, or none");
  field("longest-sound", longest_sound, "seconds of the longest sound that is taken");
}

std::vector<float> one_channel(const Value& value, double rate) {
  require(value.numbers.rank() == 2 && value.numbers.size() > 0 && value.rate > 0,
          "{}: a sound is [samples, channels] with a rate, not {} at {} Hz", value.text, value.numbers.shape(),
          value.rate);
  const Tensor numbers = value.numbers.contiguous();
  const auto channels = static_cast<std::size_t>(numbers.size(1));
  std::vector<float> samples(static_cast<std::size_t>(numbers.size(0)));
  for (std::size_t i = 0; i < samples.size(); ++i) {
    double sum = 0;
    for (std::size_t c = 0; c < channels; ++c) sum += static_cast<double>(numbers.values()[i * channels + c]);
    require(std::isfinite(sum), "{}: its sample {} is no number", value.text, i);
    samples[i] = static_cast<float>(sum / static_cast<double>(channels));
  }
  return resampled(samples, value.rate, rate);
}

SoundSense::SoundSense(const SoundOptions& options, Index width) : options_(options), width_(width) {
  require_one_of(kFeatureKinds, options.features, "features");
  require_one_of(kNormalisations, options.normalise, "normalise");
  require(options.deltas >= 0 && options.deltas <= 2, "[sound] deltas is 0, 1 or 2, not {}", options.deltas);
  require(options.longest_sound > 0, "[sound] the longest sound has {} seconds", options.longest_sound);
  if (options.features == "given") return;
  spectrum_ = std::make_unique<Spectrum>(SpectrumOptions{.rate = static_cast<double>(options.sound_rate),
                                                         .frame = options.frame_ms / 1000,
                                                         .step = options.step_ms / 1000,
                                                         .filters = options.mel_filters,
                                                         .cepstra = options.features == "mfcc" ? options.cepstra : 0});
  width_ = spectrum_->width() * (1 + options.deltas);
}

// Features and deltas.
Featured SoundSense::unnormalised(const Value& value) const {
  const double rate = spectrum_ ? value.rate : 1 / value.frame_seconds;
  if (!spectrum_)
    require(value.frame_seconds > 0, "{}: it is a sound, but this model reads ready-made features", value.text);
  else
    require(value.frame_seconds == 0, "{}: it has ready-made features, but this model hears sounds; see --features",
            value.text);
  const double seconds = static_cast<double>(value.numbers.size(0)) / rate;
  require(seconds <= options_.longest_sound, "{}: {:.1f} seconds are longer than {}; see --longest-sound", value.text,
          seconds, options_.longest_sound);
  if (!spectrum_) return {.features = with_deltas(value.numbers, options_.deltas), .frames = {value.frame_seconds}};
  const std::vector<float> samples = one_channel(value, static_cast<double>(options_.sound_rate));
  const Tensor features = (*spectrum_)(samples);
  require(features.size(0) > 0, "{}: {:.1f} ms of sound are shorter than one frame of {} ms", value.text,
          1000 * seconds, options_.frame_ms);
  const double step = options_.step_ms / 1000;
  return {.features = with_deltas(features, options_.deltas), .frames = {step, (options_.frame_ms / 1000 - step) / 2}};
}

Featured SoundSense::operator()(const Value& value) const {
  Featured heard = unnormalised(value);
  require(heard.features.size(1) == width_, "{}: its frames have {} numbers with their deltas, but the model reads {}",
          value.text, heard.features.size(1), width_);
  if (options_.normalise == "utterance") {
    Moments moments;
    moments.add(heard.features);
    normalise(heard.features, moments.mean(), moments.deviation());
  } else if (mean_) {
    normalise(heard.features, mean_, deviation_);
  }
  return heard;
}

std::string SoundSense::settings() const {
  const SoundOptions& o = options_;
  return fmt::format("{} {} {} {} {} {} {} {} {}", o.features, o.mel_filters, o.cepstra, o.sound_rate, o.frame_ms,
                     o.step_ms, o.deltas, o.normalise, o.longest_sound);
}

void SoundSense::learn(const Lesson& lesson) {
  const bool counts = options_.normalise == "corpus";
  if (!counts && width_ > 0) return;
  constexpr std::size_t kAtOnce = 64;
  Moments moments;
  std::string fault;  // of the first that cannot be used; whoever makes batches counts them all
  for (bool more = true; more;) {
    std::vector<Value> values;
    for (Value value; values.size() < kAtOnce && (more = lesson.next(value));) values.push_back(std::move(value));
    std::vector<Tensor> features(values.size());
    std::vector<std::string> faults(values.size());
    parallel_for(static_cast<Index>(values.size()), 1, [&](Index begin, Index end) {
      for (auto i = static_cast<std::size_t>(begin); i < static_cast<std::size_t>(end); ++i) try {
          features[i] = unnormalised(values[i]).features;
        } catch (const Error& error) {
          faults[i] = error.what();
        }
    });
    for (std::size_t i = 0; i < values.size(); ++i) {
      if (fault.empty()) fault = faults[i];
      if (!features[i]) continue;
      if (width_ == 0) width_ = features[i].size(1);
      if (features[i].size(1) == width_) moments.add(features[i]);
    }
    if (!counts && width_ > 0) return;
  }
  require(moments.frames() > 0, "[sound] no sound of the training can be used{}{}",
          fault.empty() ? "" : "; the first is ", fault);
  mean_ = moments.mean(), deviation_ = moments.deviation();
}

std::vector<NamedTensor> SoundSense::knowledge() const {
  if (!mean_) return {};
  return {{"mean", mean_}, {"deviation", deviation_}};
}

void SoundSense::recall(const GivenValues& given) {
  if (options_.normalise != "corpus") return;
  mean_ = given("mean", Shape{width_}).value();
  deviation_ = given("deviation", Shape{width_}).value();
}

}  // namespace heed
