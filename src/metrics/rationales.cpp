#include "heed/metrics/rationales.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <set>
#include <utility>

#include "heed/base/error.h"

namespace heed {
namespace {

// Ranges of tokens of one document of one annotation, each once.
using Ranges = std::set<std::pair<Index, Index>>;
struct Compared {
  Ranges truth, predicted;
};
using Key = std::pair<std::string, std::string>;  // annotation, document

std::map<Key, Compared> compared(std::span<const EraserAnnotation> annotations,
                                 std::span<const EraserPrediction> predictions) {
  std::map<Key, Compared> all;
  for (const EraserAnnotation& annotation : annotations)
    for (const std::vector<EraserEvidence>& group : annotation.evidences)
      for (const EraserEvidence& evidence : group)
        if (evidence.start_token >= 0)
          all[{annotation.annotation_id, evidence.docid}].truth.insert({evidence.start_token, evidence.end_token});
  for (const EraserPrediction& prediction : predictions)
    for (const EraserRationale& rationale : prediction.rationales)
      for (const TokenSpan& span : rationale.hard)
        all[{prediction.annotation_id, rationale.docid}].predicted.insert({span.begin, span.end});
  return all;
}

Ranges single_tokens(const Ranges& ranges) {
  Ranges tokens;
  for (const auto& [begin, end] : ranges)
    for (Index token = begin; token < end; ++token) tokens.insert({token, token + 1});
  return tokens;
}

double intersection_over_union(std::pair<Index, Index> a, std::pair<Index, Index> b) {
  const Index shared = std::max<Index>(0, std::min(a.second, b.second) - std::max(a.first, b.first));
  const Index either = (a.second - a.first) + (b.second - b.first) - shared;
  return either == 0 ? 0 : static_cast<double>(shared) / static_cast<double>(either);
}

double ratio(std::size_t part, std::size_t whole) {
  return whole == 0 ? 0 : static_cast<double>(part) / static_cast<double>(whole);
}
double f1_of(double precision, double recall) {
  return precision == 0 || recall == 0 ? 0 : 2 * precision * recall / (precision + recall);
}
PrecisionRecall scores_of(double precision, double recall) { return {precision, recall, f1_of(precision, recall)}; }

// Sums over documents, from which both averages come.
struct Sums {
  std::size_t right = 0, truth = 0, predicted = 0;
  PrecisionRecall ratios;
};

}  // namespace

RationaleAgreement span_agreement(std::span<const EraserAnnotation> annotations,
                                  std::span<const EraserPrediction> predictions, double threshold) {
  Sums sums;
  std::size_t with_truth = 0, with_predicted = 0;
  for (const auto& [key, pair] : compared(annotations, predictions)) {
    const auto is_right = [&truth = pair.truth, threshold](const auto& predicted) {
      double best = 0;
      for (const auto& range : truth) best = std::max(best, intersection_over_union(predicted, range));
      return best >= threshold;
    };
    const auto right = static_cast<std::size_t>(std::count_if(pair.predicted.begin(), pair.predicted.end(), is_right));
    sums.right += right;
    sums.truth += pair.truth.size();
    sums.predicted += pair.predicted.size();
    sums.ratios.recall += ratio(right, pair.truth.size());
    sums.ratios.precision += ratio(right, pair.predicted.size());
    with_truth += pair.truth.empty() ? 0 : 1;
    with_predicted += pair.predicted.empty() ? 0 : 1;
  }
  const auto mean = [](double sum, std::size_t count) { return count == 0 ? 0 : sum / static_cast<double>(count); };
  return {scores_of(ratio(sums.right, sums.predicted), ratio(sums.right, sums.truth)),
          scores_of(mean(sums.ratios.precision, with_predicted), mean(sums.ratios.recall, with_truth))};
}

RationaleAgreement token_agreement(std::span<const EraserAnnotation> annotations,
                                   std::span<const EraserPrediction> predictions) {
  Sums sums;
  std::size_t pairs = 0;
  for (const auto& [key, pair] : compared(annotations, predictions)) {
    const Ranges truth = single_tokens(pair.truth), predicted = single_tokens(pair.predicted);
    if (truth.empty() && predicted.empty()) continue;
    const auto right = static_cast<std::size_t>(
        std::count_if(predicted.begin(), predicted.end(), [&truth](const auto& t) { return truth.contains(t); }));
    const PrecisionRecall one = scores_of(ratio(right, predicted.size()), ratio(right, truth.size()));
    sums.right += right;
    sums.truth += truth.size();
    sums.predicted += predicted.size();
    sums.ratios.precision += one.precision;
    sums.ratios.recall += one.recall;
    sums.ratios.f1 += one.f1;
    ++pairs;
  }
  const double count = pairs == 0 ? 1 : static_cast<double>(pairs);
  return {scores_of(ratio(sums.right, sums.predicted), ratio(sums.right, sums.truth)),
          {sums.ratios.precision / count, sums.ratios.recall / count, sums.ratios.f1 / count}};
}

double area_under_precision_recall(std::span<const double> weights, const std::vector<bool>& truth) {
  require(weights.size() == truth.size() && !truth.empty(), "[auprc] {} weights for {} tokens", weights.size(),
          truth.size());
  std::vector<std::size_t> order(weights.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return weights[a] > weights[b]; });
  const auto all = static_cast<std::size_t>(std::count(truth.begin(), truth.end(), true));
  double area = 0, last_precision = 1, last_recall = 0;
  std::size_t right = 0;
  for (std::size_t i = 0; i < order.size(); ++i) {
    right += truth[order[i]] ? 1 : 0;
    if (i + 1 < order.size() && weights[order[i + 1]] == weights[order[i]]) continue;  // equal weights come together
    const double precision = ratio(right, i + 1), recall = all == 0 ? 1 : ratio(right, all);
    area += (recall - last_recall) * (precision + last_precision) / 2;
    last_precision = precision;
    last_recall = recall;
  }
  return area;
}

double mean_area_under_precision_recall(std::span<const EraserAnnotation> annotations,
                                        std::span<const EraserPrediction> predictions) {
  const std::map<Key, Compared> all = compared(annotations, {});
  double sum = 0;
  std::size_t count = 0;
  for (const EraserPrediction& prediction : predictions)
    for (const EraserRationale& rationale : prediction.rationales) {
      std::vector<bool> truth(rationale.soft.size(), false);
      if (const auto known = all.find({prediction.annotation_id, rationale.docid}); known != all.end())
        for (const auto& [begin, end] : known->second.truth) {
          require(end <= static_cast<Index>(truth.size()),
                  "[auprc] {}: the evidence of tokens {} to {} is outside the {} weights of {}",
                  prediction.annotation_id, begin, end, truth.size(), rationale.docid);
          std::fill(truth.begin() + begin, truth.begin() + end, true);
        }
      require(!rationale.soft.empty(), "[auprc] {}: there are no weights of {}", prediction.annotation_id,
              rationale.docid);
      sum += area_under_precision_recall(rationale.soft, truth);
      ++count;
    }
  return count == 0 ? 0 : sum / static_cast<double>(count);
}

std::vector<TokenSpan> spans_of_heaviest(std::span<const double> weights, Index count) {
  std::vector<Index> order(weights.size());
  std::iota(order.begin(), order.end(), Index{0});
  const auto heavier = [&](Index a, Index b) {
    return weights[static_cast<std::size_t>(a)] > weights[static_cast<std::size_t>(b)];
  };
  std::stable_sort(order.begin(), order.end(), heavier);
  order.resize(static_cast<std::size_t>(std::clamp<Index>(count, 0, static_cast<Index>(order.size()))));
  std::sort(order.begin(), order.end());
  std::vector<TokenSpan> spans;
  for (const Index token : order) {
    if (!spans.empty() && spans.back().end == token) {
      ++spans.back().end;
    } else {
      spans.push_back({token, token + 1});
    }
  }
  return spans;
}

}  // namespace heed
