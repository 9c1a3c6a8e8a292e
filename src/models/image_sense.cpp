#include "heed/models/image_sense.h"

#include <algorithm>

#include "heed/base/error.h"
#include "heed/base/threads.h"
#include "heed/data/images/image.h"

namespace heed {
namespace {

// Pixels on a side, regions on a side, and the layers: what else the features depend on.
Tensor numbers_of_look(const EyePlan& plan) {
  std::vector<Real> numbers{static_cast<Real>(plan.picture), static_cast<Real>(plan.grid)};
  for (const int point : plan.points) numbers.push_back(static_cast<Real>(point));
  return Tensor(Shape{static_cast<Index>(numbers.size())}, std::span<const Real>(numbers));
}

}  // namespace

#ifndef HEED_DOUBLE

// Networks of one encoder for batches of some size and numbers of threads. Few are kept: each holds the weights.
struct ImageSense::Networks {
  using Network = kernels::ImageNetwork;

  std::shared_ptr<const Network> of(const EyePlan& plan, const EyeWeights& weights, Index batch) {
    constexpr std::size_t kMost = 4;
    const std::pair<Index, int> key{batch, detail::available_threads()};
    const std::lock_guard lock(mutex_);
    if (const auto known = made_.find(key); known != made_.end()) return known->second;
    if (made_.size() >= kMost) made_.clear();
    return made_[key] = std::make_shared<const Network>(batch, network_layers(plan, weights), plan.points);
  }

 private:
  std::mutex mutex_;
  std::map<std::pair<Index, int>, std::shared_ptr<const Network>> made_;
};

Tensor ImageSense::features(const Tensor& pictures) const {
  const Index batch = pictures.size(0);
  return join_points(plan_, seen_by(*networks_->of(plan_, weights_, batch), batch, plan_, normalised(pictures)))
      .value();
}

#else

struct ImageSense::Networks {};

Tensor ImageSense::features(const Tensor& pictures) const { return Eye(plan_, weights_)(normalised(pictures)).value(); }

#endif

Tensor ImageSense::normalised(const Tensor& pictures) const {
  Tensor result = pictures.copy();
  const Colours& colours = weights_.colours;
  for (Index i = 0; i < result.size(); ++i) {
    const auto c = static_cast<std::size_t>(i % 3);
    result.data()[i] =
        static_cast<Real>((static_cast<double>(result.data()[i]) - colours.mean[c]) / colours.deviation[c]);
  }
  return result;
}

Featured ImageSense::operator()(const Value& value) const {
  require(value.numbers.rank() == 3 && value.numbers.size(2) == 3, "{}: a picture is [height, width, 3], not {}",
          value.text, value.numbers.shape());
  const Index side = plan_.picture;
  const Tensor picture = resize(value.numbers, side, side).reshape(Shape{1, side, side, 3});
  Tensor features = plan_.trained ? normalised(picture) : this->features(picture);
  return {.features = features.reshape(plan_.trained ? Shape{side * side, 3} : Shape{plan_.regions(), plan_.width()}),
          .rows = plan_.grid,
          .columns = plan_.grid,
          .preview = preview_of(value.numbers)};
}

void ImageSense::learn(const Lesson& lesson) {
  if (plan_.encoder->trained_alone) return;
  require(!lesson.weights.empty(),
          "[{}] the encoder needs its weights: name their safetensors file with --encoder-weights (scripts/get-encoder "
          "fetches those of efficientnet-lite0), or take --encoder small, which trains from nothing",
          plan_.encoder->name);
  weights_ = read_eye_weights(*plan_.encoder, plan_.layers, lesson.weights);
  networks_ = std::make_shared<Networks>();
}

std::vector<NamedTensor> ImageSense::knowledge() const {
  EyeWeights weights = weights_;
  if (plan_.trained) weights.layers.clear();  // the model has them
  std::vector<NamedTensor> known = folded_tensors(*plan_.encoder, weights);
  known.push_back({"look", numbers_of_look(plan_)});
  return known;
}

void ImageSense::recall(const GivenValues& given) {
  weights_ = recall_eye_weights(*plan_.encoder, plan_.trained ? 0 : plan_.layers, given);
  networks_ = std::make_shared<Networks>();
}

bool ImageSense::succeed(const Sense& before) {
  const auto* other = dynamic_cast<const ImageSense*>(&before);
  if (!other) return false;
  require(other->plan_.encoder == plan_.encoder, "--encoder: {} is asked for, but the model of --from has {}",
          plan_.encoder->name, other->plan_.encoder->name);
  require(plan_.trained || !other->plan_.trained,
          "--fine-tune: {} of the model of --from was fine-tuned, and cannot be frozen again", plan_.encoder->name);
  require(other->plan_.trained || other->weights_.layers.size() >= plan_.layers,
          "--encoder-layers: {} layers of {} are needed, and the model of --from has {}", plan_.layers,
          plan_.encoder->name, other->weights_.layers.size());
  weights_ = other->weights_;
  weights_.layers.resize(std::min(weights_.layers.size(), plan_.layers));
  networks_ = std::make_shared<Networks>();
  return true;
}

}  // namespace heed
