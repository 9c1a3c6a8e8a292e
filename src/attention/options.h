#pragma once

#include <string>

#include "heed/base/real.h"

namespace heed {

// Everything that any part of attention can be told. `visit` is the one list that flags, files and Python read.
struct AttentionOptions {
  std::string score = "scaled-dot";
  std::string window = "global";
  std::string normaliser = "softmax";

  Index query_width = 0;  // of one head
  Index key_width = 0;    // of one head
  Index value_width = 0;  // of one head
  Index score_width = 0;  // inner width of additive scores; 0: the query's width
  Index heads = 1;

  Index longest = 0;         // most keys a location score can address
  Index filters = 10;        // location-aware: how many
  Index filter_width = 201;  // location-aware: how wide, odd
  double fertility = 0;      // coverage: most output words of a position (Tu); 0: plain sums (See)
  Index rows = 1;            // self-scores: how many rows of weights
  Index relative = 16;       // relative positions beyond ± this share one vector

  Index half_width = 10;    // local-m, local-p: D; median: reach to each side
  Index neighbours = 256;   // restricted, sliding: attend to |i - j| <= neighbours / 2
  Index global_tokens = 1;  // sliding: this many first positions see and are seen by all

  double temperature = 1;    // sharpened, sparsemax, entmax, hard: of e / temperature
  Index top_k = 0;           // sharpened: keep this many, 0: all
  double soft_mixing = 0.5;  // hard: how often a batch uses the weights instead of a sample
  bool expected = false;     // hard: when running, all positions by their weights instead of the most probable one

  template <class Visitor>
  void visit(Visitor&& field) {
    field("score", score, "how a query and a key are compared");
    field("window", window, "which positions may be seen");
    field("normaliser", normaliser, "how scores become weights");
    field("query-width", query_width, "width of a query, per head");
    field("key-width", key_width, "width of a key, per head");
    field("value-width", value_width, "width of a value, per head");
    field("score-width", score_width, "inner width of additive scores (0: the query's)");
    field("heads", heads, "attention heads");
    field("longest", longest, "most keys a location score can address");
    field("filters", filters, "filters over the previous weights (location-aware)");
    field("filter-width", filter_width, "width of those filters, odd");
    field("fertility", fertility, "most output words of one position (coverage; 0: plain sums)");
    field("rows", rows, "rows of weights of a self-score");
    field("relative", relative, "largest distance with a vector of its own (relative)");
    field("half-width", half_width, "reach of local and median windows to each side");
    field("neighbours", neighbours, "size of the restricted neighbourhood");
    field("global-tokens", global_tokens, "first positions that see and are seen by all (sliding)");
    field("temperature", temperature, "divides the scores (sharpened, sparsemax, entmax, hard)");
    field("top-k", top_k, "keep the k largest scores (sharpened; 0: all)");
    field("soft-mixing", soft_mixing, "how often hard attention uses the weights themselves");
    field("expected", expected, "hard attention reads all positions by their weights when running, not the best alone");
  }
};

}  // namespace heed
