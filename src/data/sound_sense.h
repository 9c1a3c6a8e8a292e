#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "heed/base/fields.h"
#include "heed/data/sense.h"
#include "heed/data/sound_features.h"

namespace heed {

// How a model hears, as fields of its configuration.
struct SoundOptions {
  std::string features = "mel";  // or "mfcc", or "given": files hold features already
  Index mel_filters = 40, cepstra = 13;
  Index sound_rate = 16'000;  // Hz; sounds of other rates are resampled
  double frame_ms = 25, step_ms = 10;
  Index deltas = 2;                  // orders of differences beside the features themselves
  std::string normalise = "corpus";  // or "utterance", or "none"
  double longest_sound = 300;        // seconds

  void visit(Fields& field);
};

// A sound as frames of features. By default log-mel filters with energy and two orders of deltas, 123 numbers per frame
// (Chorowski et al. 2015), each with the mean 0 and the variance 1 over the training's sounds.
class SoundSense final : public Sense {
 public:
  // `width`: of features that files hold, as a trained model reads them; 0: seen when it learns. Options that make no
  // sense are an Error.
  explicit SoundSense(const SoundOptions& options, Index width = 0);

  Index width() const override { return width_; }
  Featured operator()(const Value& value) const override;
  bool worth_keeping() const override { return spectrum_ != nullptr; }
  std::string settings() const override;
  void learn(const Lesson& lesson) override;
  std::vector<NamedTensor> knowledge() const override;
  void recall(const GivenValues& given) override;

 private:
  Featured unnormalised(const Value& value) const;

  SoundOptions options_;
  std::unique_ptr<const Spectrum> spectrum_;  // empty where features are given
  Index width_;
  Tensor mean_, deviation_;  // [width] over the corpus; empty until they are known
};

// The channels of a decoded sound as one, at the wanted rate. A sound without samples is an Error.
std::vector<float> one_channel(const Value& value, double rate);

}  // namespace heed
