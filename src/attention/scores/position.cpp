#include <cmath>

#include "heed/attention/parts.h"
#include "heed/autograd/ops/along.h"
#include "heed/autograd/ops/elementwise.h"
#include "heed/autograd/ops/matrix.h"
#include "heed/autograd/ops/shape.h"

namespace heed {
namespace {

Real inverse_root_of_width(const Var& x) { return static_cast<Real>(1 / std::sqrt(static_cast<double>(x.size(-1)))); }

Var scaled_products(const Var& queries, const Var& keys) {
  return scale(matmul(queries, keys, {.b = true}), inverse_root_of_width(queries));
}

// Shaw, Uszkoreit, Vaswani 2018.   e_ij = q_iᵀ (k_j + a^K_r) / √d,  read_i = Σ_j α_ij (v_j + a^V_r),
// r = clip(j - i, ±k): 2k + 1 learned vectors each for keys and values, shared by the heads.
class Relative final : public Score {
 public:
  Relative(const Scope& scope, const AttentionOptions& options)
      : reach_(checked(options.relative)),
        key_vectors_(scope.parameter("keys", Shape{2 * reach_ + 1, options.key_width}, init::normal(0.02))),
        value_vectors_(scope.parameter("values", Shape{2 * reach_ + 1, options.value_width}, init::normal(0.02))) {}
  Var operator()(const Query& query, const Memory& memory) const override {
    const Var by_distance = scaled_products(query.vectors, key_vectors_);  // [batch, heads, n, 2k + 1]
    return scaled_products(query.vectors, memory.keys) + take_along(by_distance, distances(query, memory.size()));
  }
  Var reread(const Var& read, const Var& weights, const Query& query) const override {
    const Ids r = distances(query, weights.size(-1));
    return read + matmul(sum_along(weights, r, 2 * reach_ + 1), value_vectors_);
  }

 private:
  static Index checked(Index reach) {
    require(reach > 0, "[relative] needs a positive reach, not {}", reach);
    return reach;
  }
  // [n, m]: clip(j - i, ±k) + k.
  Ids distances(const Query& query, Index m) const {
    Ids r(Shape{query.count(), m});
    for (Index i = 0; i < query.count(); ++i)
      for (Index j = 0; j < m; ++j)
        r.data()[i * m + j] = static_cast<std::int32_t>(std::clamp(j - i - query.position, -reach_, reach_) + reach_);
    return r;
  }
  Index reach_;
  Var key_vectors_, value_vectors_;
};

// Press, Smith, Lewis 2022 (ALiBi).   e_ij = q_iᵀ k_j / √d - s_h |i - j|,  s_h = 2^{-8 h / H}, h = 1..H.
class Alibi final : public Score {
 public:
  std::optional<FusedScore> fused(const Query& query, const Memory& memory) const override {
    const auto bias = std::make_shared<Bias>();
    bias->position = query.position;
    for (Index h = 0; h < memory.heads(); ++h) bias->slopes.push_back(static_cast<Real>(slope(h, memory.heads())));
    ScoreRule rule;
    rule.calls.context = bias.get();
    rule.calls.apply = subtract_distance;
    rule.functors = bias;
    return FusedScore{query.vectors, memory.keys, inverse_root_of_width(query.vectors), rule};
  }
  Var operator()(const Query& query, const Memory& memory) const override {
    const Index heads = memory.heads(), n = query.count(), m = memory.size();
    Tensor bias(Shape{heads, n, m});
    for (Index h = 0; h < heads; ++h) {
      const double share = slope(h, heads);
      for (Index i = 0; i < n; ++i)
        for (Index j = 0; j < m; ++j)
          bias.data()[(h * n + i) * m + j] =
              static_cast<Real>(-share * static_cast<double>(std::abs(i + query.position - j)));
    }
    return scaled_products(query.vectors, memory.keys) + Var(bias);
  }

 private:
  struct Bias {
    Index position = 0;        // of the first query
    std::vector<Real> slopes;  // of each head
  };
  static double slope(Index head, Index heads) {
    return std::exp2(-8.0 * static_cast<double>(head + 1) / static_cast<double>(heads));
  }
  static void subtract_distance(const void* context, const kernels::ScoreTile& t, Real* scores) {
    const Bias& bias = *static_cast<const Bias*>(context);
    const Real share = bias.slopes[static_cast<std::size_t>(t.head)];
    for (Index r = 0; r < t.rows; ++r) {
      Real* row = scores + r * t.stride;
      const Index ahead = t.key - (t.query + r + bias.position);
      for (Index c = 0; c < t.columns; ++c) row[c] -= share * std::abs(static_cast<Real>(ahead + c));
    }
  }
};

// Su et al. 2021 (RoPE). Pairs of numbers of q and k are turned by p · 10000^{-2i/d} at position p; their product then
// depends on the distance alone.   e = (R_p q)ᵀ (R_j k) / √d
class Rotary final : public Score {
 public:
  explicit Rotary(const AttentionOptions& options) {
    require(options.key_width % 2 == 0, "[rotary] needs an even width, not {}", options.key_width);
  }
  Var prepare(const Var& keys, Index first) const override { return turned(keys, first); }
  Var operator()(const Query& query, const Memory& memory) const override {
    return scaled_products(turned(query.vectors, query.position), memory.prepared);
  }
  std::optional<FusedScore> fused(const Query& query, const Memory& memory) const override {
    return FusedScore{turned(query.vectors, query.position), memory.prepared, inverse_root_of_width(query.vectors)};
  }
  bool plain_products() const override { return true; }

 private:
  static Var turned(const Var& x, Index first) {
    const Index n = x.size(-2), d = x.size(-1);
    Tensor cosine(Shape{n, d / 2, 1}), sine(Shape{n, d / 2, 1});
    // Position by position through the sum of angles; n steps in double lose about n 1e-16, far below Real's rounding.
    for (Index i = 0; i < d / 2; ++i) {
      const double rate = std::pow(10000.0, -2.0 * static_cast<double>(i) / static_cast<double>(d));
      const double turn_cosine = std::cos(rate), turn_sine = std::sin(rate);
      double c = std::cos(static_cast<double>(first) * rate), s = std::sin(static_cast<double>(first) * rate);
      for (Index p = 0; p < n; ++p) {
        cosine.data()[p * (d / 2) + i] = static_cast<Real>(c);
        sine.data()[p * (d / 2) + i] = static_cast<Real>(s);
        const double next = c * turn_cosine - s * turn_sine;
        s = s * turn_cosine + c * turn_sine;
        c = next;
      }
    }
    const Var pairs = reshape(x, Shape{x.size(0), x.size(1), n, d / 2, 2});
    const Var a = slice(pairs, -1, 0, 1), b = slice(pairs, -1, 1, 2);
    const Var c(cosine), s(sine);
    return reshape(heed::concat({a * c - b * s, a * s + b * c}, -1), x.shape());
  }
};

const RegisterScore relative{
    {"relative", "scaled dot with learned vectors of the distance",
     "e = q.(k + aK[j-i]) / sqrt(d), read = sum a (v + aV[j-i])", "Shaw et al. 2018",
     [](const Scope& scope, const AttentionOptions& options) { return std::make_unique<Relative>(scope, options); },
     Widths::equal}};
const RegisterScore alibi{
    {"alibi", "scaled dot less a share of the distance", "e = q.k / sqrt(d) - s_h |i - j|", "Press, Smith, Lewis 2022",
     [](const Scope&, const AttentionOptions&) { return std::make_unique<Alibi>(); }, Widths::equal}};
const RegisterScore rotary{
    {"rotary", "scaled dot of vectors turned by their positions", "e = (R_i q).(R_j k) / sqrt(d)", "Su et al. 2021",
     [](const Scope&, const AttentionOptions& options) { return std::make_unique<Rotary>(options); }, Widths::equal}};

}  // namespace
}  // namespace heed
