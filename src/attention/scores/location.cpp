#include "heed/attention/additive.h"
#include "heed/attention/parts.h"
#include "heed/autograd/ops/convolution.h"
#include "heed/autograd/ops/elementwise.h"
#include "heed/autograd/ops/shape.h"
#include "heed/nn/linear.h"

namespace heed {
namespace {

// Luong, Pham, Manning 2015.   e = W q: the query alone says where to look; W has a row for each position up to the
// longest memory.
class Location final : public Score {
 public:
  Location(const Scope& scope, const AttentionOptions& options)
      : longest_(checked(options.longest)), map_(scope, options.query_width, longest_, {.bias = false}) {}
  Var operator()(const Query& query, const Memory& memory) const override {
    require(memory.size() <= longest_, "[location] a memory of {} is longer than the longest, {}", memory.size(),
            longest_);
    return slice(map_(query.vectors), -1, 0, memory.size());
  }

 private:
  static Index checked(Index longest) {
    require(longest > 0, "[location] the longest memory must be given, not {}", longest);
    return longest;
  }
  Index longest_;
  Linear map_;
};

// Chorowski et al. 2015, hybrid attention.   e = wᵀ tanh(W s + V h + U f + b),  f = F * α': the last step's weights α'
// convolved with a few wide filters. The first step's α' is one-hot on the first position, as in the authors' code.
class LocationAware final : public Score {
 public:
  LocationAware(const Scope& scope, const AttentionOptions& options)
      : query_map_(scope / "query", options.query_width, width(options), {.bias = false}),
        key_map_(scope / "key", options.key_width, width(options)),
        filter_map_(scope / "filter", filters(options)[-1], width(options), {.bias = false}),
        filters_(scope.parameter("filters", filters(options), init::normal(0.01))),
        v_(scope.parameter("v", Shape{width(options)}, init::uniform(-0.1, 0.1))) {}
  Carries carries() const override { return {.weights = true}; }
  Var prepare(const Var& keys, Index) const override { return key_map_(keys); }
  Var operator()(const Query& query, const Memory& memory) const override {
    const Index b = memory.batch(), h = memory.heads(), m = memory.size();
    const Var last = query.past && query.past->weights ? query.past->weights : first_position(b, h, m);
    const Var features = conv1d(reshape(last, Shape{b * h, m, 1}), filters_, {}, {.padding = Padding::same});
    return additive_scores(query_map_(query.vectors), memory.prepared, v_, memory.lengths,
                           {reshape(features, Shape{b, h, m, features.size(-1)}), filter_map_.weight()});
  }

 private:
  static Index width(const AttentionOptions& o) { return o.score_width > 0 ? o.score_width : o.query_width; }
  static Shape filters(const AttentionOptions& o) {
    require(o.filters > 0 && o.filter_width > 0 && o.filter_width % 2 == 1,
            "[location-aware] needs filters of odd width, not {} of {}", o.filters, o.filter_width);
    return Shape{o.filter_width, 1, o.filters};
  }
  static Var first_position(Index batch, Index heads, Index m) {
    Tensor weights(Shape{batch, heads, 1, m}, Real{0});
    for (Index i = 0; i < batch * heads; ++i) weights.data()[i * m] = 1;
    return weights;
  }
  Linear query_map_, key_map_, filter_map_;
  Var filters_, v_;
};

const RegisterScore location{
    {"location", "from the query alone", "e = W q", "Luong, Pham, Manning 2015",
     [](const Scope& scope, const AttentionOptions& options) { return std::make_unique<Location>(scope, options); }}};
const RegisterScore location_aware{{"location-aware", "additive, with the last weights convolved",
                                    "e = w.tanh(W s + V h + U (F * a') + b)", "Chorowski et al. 2015",
                                    [](const Scope& scope, const AttentionOptions& options) {
                                      return std::make_unique<LocationAware>(scope, options);
                                    }}};

}  // namespace
}  // namespace heed
