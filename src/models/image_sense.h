#pragma once

#include <map>
#include <memory>
#include <mutex>

#include "heed/data/sense.h"
#include "heed/models/eye.h"

namespace heed {

// How a model with an EyeConfig takes in images. The whole picture is brought to picture × picture pixels, so that the
// grid covers all of it.
//
// With a frozen encoder the features are [regions, width of the encoder's layers], row by row; the encoder's weights
// come from the file that the user names and are kept with the model. With an encoder that is trained they are its
// pixels, [picture·picture, 3], less the mean and by the deviation of the encoder's colours; rows and columns are those
// of the grid that the model's Eye makes of them.
class ImageSense : public Sense {
 public:
  explicit ImageSense(const EyeConfig& config) : plan_(config) { weights_.colours = plan_.encoder->colours; }

  Index width() const override { return plan_.trained ? 3 : plan_.width(); }
  Featured operator()(const Value& value) const override;
  bool worth_keeping() const override { return !plan_.trained; }
  bool bulky() const override { return plan_.trained; }
  void learn(const Lesson& lesson) override;
  std::vector<NamedTensor> knowledge() const override;
  void recall(const GivenValues& given) override;
  // An encoder that was frozen may be fine-tuned, or look at other sizes and layers; one that was fine-tuned cannot be
  // frozen, since its model has the weights.
  bool succeed(const Sense& before) override;

  const EyePlan& plan() const { return plan_; }
  // With which the model's Eye begins, by their names below its scope: none of an encoder that is frozen, trains from
  // nothing, or has been trained already.
  std::vector<NamedTensor> first_parameters() const {
    return plan_.trained ? eye_parameters(plan_, weights_) : std::vector<NamedTensor>();
  }
  // Of several pictures at once, [batch, picture, picture, 3] with values in 0..1: [batch, regions, width].
  Tensor features(const Tensor& pictures) const;

 private:
  Tensor normalised(const Tensor& pictures) const;

  EyePlan plan_;
  EyeWeights weights_;
  struct Networks;
  std::shared_ptr<Networks> networks_;  // made of the weights as they are needed, for each number of threads
};

}  // namespace heed
