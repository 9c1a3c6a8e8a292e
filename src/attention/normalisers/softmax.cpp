#include "heed/autograd/ops/softmax.h"

#include <algorithm>
#include <vector>

#include "heed/attention/normalisers/temperature.h"
#include "heed/attention/parts.h"
#include "heed/autograd/ops/sparse_weights.h"
#include "heed/kernels/nan_order.h"

namespace heed {
namespace {

// A normaliser that is one function of scores and mask, the scores divided by a temperature.
class Plain final : public Normaliser {
 public:
  using Function = Var (*)(const Var&, const Mask&);
  explicit Plain(const char* name, Function function, double temperature = 1)
      : function_(function), temperature_(name, temperature) {}
  bool fused() const override { return function_ == static_cast<Function>(softmax); }
  Weighted operator()(const Var& scores, const Mask& visible, const Query&) const override {
    return {function_(temperature_(scores), visible), {}, {}};
  }

 private:
  Function function_;
  Temperature temperature_;
};

// Chorowski et al. 2015, sharpening.   softmax(e / temperature) over the k largest scores, or all where there are
// fewer.
class Sharpened final : public Normaliser {
 public:
  explicit Sharpened(const AttentionOptions& options)
      : temperature_("sharpened", options.temperature), k_(options.top_k) {
    require(k_ >= 0, "[sharpened] top-k must not be negative: {}", k_);
  }
  Weighted operator()(const Var& scores, const Mask& visible, const Query&) const override {
    const Var e = temperature_(scores);
    return {softmax(e, k_ == 0 ? visible : largest(e.value().contiguous(), visible)), {}, {}};
  }

 private:
  // The k largest visible scores of each row; of equal ones the first. A NaN is kept, so that it shows.
  Mask largest(const Tensor& e, const Mask& visible) const {
    const Index m = e.size(-1);
    Mask kept(e.shape(), false);
    const Mask allowed = visible ? visible.expand(e.shape()).contiguous() : Mask();
    std::vector<Index> order;
    for (Index at = 0; at < e.size(); at += m) {
      order.clear();
      for (Index j = at; j < at + m; ++j)
        if (!allowed || allowed.data()[j]) order.push_back(j);
      const auto count = std::min<std::size_t>(static_cast<std::size_t>(k_), order.size());
      std::partial_sort(order.begin(), order.begin() + static_cast<Index>(count), order.end(), [&](Index a, Index b) {
        const Real x = e.data()[a], y = e.data()[b];
        return kernels::below(y, x) || (!kernels::below(x, y) && a < b);
      });
      for (std::size_t i = 0; i < count; ++i) kept.data()[order[i]] = true;
    }
    return kept;
  }
  Temperature temperature_;
  Index k_;
};

const RegisterNormaliser plain_softmax{
    {"softmax", "exponentials over their sum", "a = exp(e) / sum exp(e)", "Bahdanau, Cho, Bengio 2015",
     [](const Scope&, const AttentionOptions&) { return std::make_unique<Plain>("softmax", softmax); }}};
const RegisterNormaliser sharpened{
    {"sharpened", "softmax with a temperature, over the k largest", "a = softmax(e / T) over top-k",
     "Chorowski et al. 2015",
     [](const Scope&, const AttentionOptions& options) { return std::make_unique<Sharpened>(options); }}};
const RegisterNormaliser sparse{{"sparsemax", "projection onto the simplex, with exact zeros", "a = max(e / T - t, 0)",
                                 "Martins & Astudillo 2016", [](const Scope&, const AttentionOptions& options) {
                                   return std::make_unique<Plain>("sparsemax", sparsemax, options.temperature);
                                 }}};
const RegisterNormaliser entmax{{"entmax", "between softmax and sparsemax", "a = max(e / 2T - t, 0)^2",
                                 "Peters, Niculae, Martins 2019", [](const Scope&, const AttentionOptions& options) {
                                   return std::make_unique<Plain>("entmax", entmax15, options.temperature);
                                 }}};

}  // namespace
}  // namespace heed
