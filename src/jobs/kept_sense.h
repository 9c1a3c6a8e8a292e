#pragma once

#include <atomic>

#include "heed/base/progress.h"
#include "heed/jobs/bundle.h"
#include "heed/jobs/feature_file.h"

namespace heed {

// A sense whose features are computed once and kept in a file. What the sense knows (Sense::knowledge) and its settings
// must tell it from any other that would make other features of the same inputs: the file is compared with them.
class KeptSense final : public Sense {
 public:
  KeptSense(std::shared_ptr<const Sense> sense, const std::filesystem::path& file);

  Index width() const override { return sense_->width(); }
  Featured operator()(const Value& value) const override { return (*sense_)(value); }
  Featured sensed(Kind kind, const Value& value) const override;
  std::string settings() const override { return sense_->settings(); }
  std::vector<NamedTensor> knowledge() const override { return sense_->knowledge(); }

  // How many inputs it had to compute. That is shown while it goes on, up to the first call of end_progress.
  Index computed() const { return computed_; }
  void end_progress() const;

 private:
  void show_progress(Kind kind) const;

  std::shared_ptr<const Sense> sense_;
  mutable FeatureFile file_;
  mutable std::atomic<Index> computed_ = 0;
  mutable std::mutex mutex_;  // guards what follows
  mutable std::unique_ptr<Progress> progress_;
  mutable bool shown_ = true;
};

// The senses of a training whose features are worth keeping, wrapped for as long as it lives. The file is the one that
// is named, or else "<output>.<input>.features", which goes away with the training.
class KeptFeatures {
 public:
  KeptFeatures(Bundle& bundle, const std::string& named_file, const std::string& output);

  // When the data have been read.
  void end_progress() const;
  // When the training has come to its end and will not be resumed.
  void remove() const;

 private:
  std::vector<std::shared_ptr<const KeptSense>> senses_;
  std::vector<std::filesystem::path> passing_;  // files that go away
};

}  // namespace heed
