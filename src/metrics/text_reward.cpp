#include "heed/metrics/text_reward.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "heed/base/utf8.h"
#include "heed/metrics/caption_scores.h"
#include "heed/metrics/text_metrics.h"

namespace heed {
namespace {

// Words and marks apart, and the end. Marks count: if they did not, any number of them could be written.
std::string with_end(const std::string& text, bool small_letters) {
  return fmt::format("{} </s>", fmt::join(tokenized(small_letters ? lowercased(text) : text, BleuTokens::v13a), " "));
}

CaptionCase with_ends(const std::string& text, std::span<const std::string> references, bool small_letters) {
  CaptionCase ended{with_end(text, small_letters), {}};
  for (const std::string& reference : references) ended.references.push_back(with_end(reference, small_letters));
  return ended;
}

class CiderReward final : public TextReward {
 public:
  CiderReward(Cider kind, std::span<const std::vector<std::string>> training) : kind_(kind) {
    for (const std::vector<std::string>& references : training)
      frequencies_.add(with_ends({}, references, true).references);
  }
  double operator()(const std::string& text, std::span<const std::string> references) const override {
    return cider(with_ends(text, references, true), frequencies_, kind_);
  }

 private:
  Cider kind_;
  NGramFrequencies frequencies_;
};

class BleuReward final : public TextReward {
 public:
  explicit BleuReward(bool small_letters) : small_letters_(small_letters) {}
  double operator()(const std::string& text, std::span<const std::string> references) const override {
    const CaptionCase ended = with_ends(text, references, small_letters_);
    const BleuOptions smoothed{.tokens = BleuTokens::none, .smoothing = BleuSmoothing::add_k};
    return bleu(bleu_counts(ended.caption, ended.references, smoothed), smoothed).score / 100;
  }

 private:
  bool small_letters_;
};

// Of any other metric: what it is of a set of one text.
class MetricReward final : public TextReward {
 public:
  explicit MetricReward(TextMetric metric) : metric_(std::move(metric)) {}
  double operator()(const std::string& text, std::span<const std::string> references) const override {
    const std::vector<std::string> texts{text};
    const std::vector<std::vector<std::string>> right{{references.begin(), references.end()}};
    const double score = score_of_all(metric_.by_samples(texts, right), 1) / 100;
    return metric_.higher_is_better ? score : -score;
  }

 private:
  TextMetric metric_;
};

class SummedReward final : public TextReward {
 public:
  explicit SummedReward(std::vector<std::unique_ptr<TextReward>> parts) : parts_(std::move(parts)) {}
  double operator()(const std::string& text, std::span<const std::string> references) const override {
    double sum = 0;
    for (const auto& part : parts_) sum += (*part)(text, references);
    return sum;
  }

 private:
  std::vector<std::unique_ptr<TextReward>> parts_;
};

std::unique_ptr<TextReward> reward_named(const std::string& name, std::span<const std::vector<std::string>> training) {
  TextMetric metric = text_metric_named(name);
  if (name == "cider" || name == "cider-d")
    return std::make_unique<CiderReward>(name == "cider" ? Cider::plain : Cider::d, training);
  if (name == "bleu" || name == "bleu4") return std::make_unique<BleuReward>(name == "bleu4");
  return std::make_unique<MetricReward>(std::move(metric));
}

}  // namespace

std::unique_ptr<TextReward> text_reward_of(std::span<const std::string> names,
                                           std::span<const std::vector<std::string>> training) {
  std::vector<std::unique_ptr<TextReward>> parts;
  for (const std::string& name : names) parts.push_back(reward_named(name, training));
  return std::make_unique<SummedReward>(std::move(parts));
}

}  // namespace heed
