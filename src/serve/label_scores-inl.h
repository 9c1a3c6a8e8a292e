#pragma once

#include <nlohmann/json.hpp>
#include <vector>

#include "heed/jobs/runner.h"

namespace heed {

// [{"score", "label"}, ...] of the labels that a model chose from, in their order.
inline nlohmann::ordered_json label_scores(const std::vector<Result>& results) {
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (const Result& result : results) list.push_back({{"score", result.score}, {"label", result.text}});
  return list;
}

}  // namespace heed
