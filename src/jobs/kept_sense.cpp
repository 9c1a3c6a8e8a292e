#include "heed/jobs/kept_sense.h"

#include "heed/base/digest.h"

namespace heed {
namespace {

void add_text(Digest& digest, std::string_view text) { digest.add(std::as_bytes(std::span(text))); }

void add_tensor(Digest& digest, const Tensor& tensor) {
  const Tensor packed = tensor.contiguous();
  add_text(digest, fmt::format("{} ", tensor.shape()));
  digest.add(std::as_bytes(packed.values()));
}

std::string digest_of_sense(const Sense& sense) {
  Digest digest;
  add_text(digest, fmt::format("features of width {} {} ", sense.width(), sense.settings()));
  for (const NamedTensor& each : sense.knowledge()) {
    add_text(digest, each.name + " ");
    add_tensor(digest, each.tensor);
  }
  return digest.text();
}

// Of what the sense would see.
std::string digest_of_value(const Value& value) {
  Digest digest;
  if (!value.numbers && value.bytes) {
    add_text(digest, *value.bytes);
  } else {
    add_text(digest, fmt::format("{} {} ", value.rate, value.frame_seconds));
    add_tensor(digest, value.numbers);
  }
  return digest.text();
}

}  // namespace

KeptSense::KeptSense(std::shared_ptr<const Sense> sense, const std::filesystem::path& file)
    : sense_(std::move(sense)), file_(file, digest_of_sense(*sense_)) {}

Featured KeptSense::sensed(Kind kind, const Value& value) const {
  if (!value.numbers && !value.bytes) return sense_->sensed(kind, value);  // which says what is wrong
  const std::string key = digest_of_value(value);
  if (std::optional<Featured> kept = file_.find(key)) return *std::move(kept);
  const Featured made = sense_->sensed(kind, value);
  ++computed_;
  show_progress(kind);
  return file_.keep(key, made);
}

void KeptSense::show_progress(Kind kind) const {
  const std::lock_guard lock(mutex_);
  if (!shown_) return;
  if (!progress_) {
    const std::string name = name_of(kind);
    progress_ = std::make_unique<Progress>(ProgressTask{.title = name + " features", .unit = name + "s"});
  }
  progress_->update(computed_);
}

void KeptSense::end_progress() const {
  const std::lock_guard lock(mutex_);
  progress_.reset();
  shown_ = false;
}

KeptFeatures::KeptFeatures(Bundle& bundle, const std::string& named_file, const std::string& output) {
  for (std::size_t i = 0; i < bundle.codes.senses.size(); ++i) {
    std::shared_ptr<const Sense>& sense = bundle.codes.senses[i];
    if (!sense || !sense->worth_keeping()) continue;
    std::filesystem::path file = named_file;
    if (named_file.empty()) {
      const std::filesystem::path folder = std::filesystem::absolute(output).lexically_normal();
      file = (folder.has_filename() ? folder : folder.parent_path()).string() + "." + bundle.job->inputs[i].name +
             ".features";
      std::filesystem::create_directories(file.parent_path());
      passing_.push_back(file);
    }
    senses_.push_back(std::make_shared<const KeptSense>(sense, file));
    sense = senses_.back();
  }
}

void KeptFeatures::end_progress() const {
  for (const auto& sense : senses_) sense->end_progress();
}

void KeptFeatures::remove() const {
  std::error_code ignored;
  for (const std::filesystem::path& file : passing_) std::filesystem::remove(file, ignored);
}

}  // namespace heed
