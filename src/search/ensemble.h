#pragma once

#include <memory>
#include <vector>

#include "heed/search/decoding.h"

namespace heed {

// How several models become one: the mean of their probabilities, or of their logarithms (the geometric mean, which is
// not normalised).
enum class EnsembleMean { probabilities, log_probabilities };

// Several decodings of the same sources over the same target vocabulary, stepped together. Their weights over the
// source are averaged too, where they have attention and see as many positions.
class EnsembleDecoding final : public Decoding {
 public:
  // `shares` of the models are scaled to sum to 1; empty: all alike.
  explicit EnsembleDecoding(std::vector<std::unique_ptr<Decoding>> members,
                            EnsembleMean mean = EnsembleMean::probabilities, std::vector<double> shares = {});

  Step step(const Ids& previous) override;
  void select(const Ids& rows) override;
  Index rows() const override { return members_.front()->rows(); }

 private:
  std::vector<std::unique_ptr<Decoding>> members_;
  EnsembleMean mean_;
  std::vector<double> shares_;
};

}  // namespace heed
