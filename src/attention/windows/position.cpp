#include <algorithm>

#include "heed/attention/parts.h"

namespace heed {
namespace {

// Windows that compare the position i of a query with that of a key j, and nothing else.

// [n, m]: true where sees(i, j).
template <class Sees>
View seen_pairs(const Query& query, const Memory& memory, const Sees& sees) {
  const Index n = query.count(), m = memory.size();
  Mask visible(Shape{n, m});
  for (Index i = 0; i < n; ++i)
    for (Index j = 0; j < m; ++j) visible.data()[i * m + j] = sees(query.position + i, j);
  return {visible, {}};
}

// -before <= j - i <= after
class BandWindow final : public Window {
 public:
  explicit BandWindow(Band band) : band_(band) {}
  View operator()(const Query& query, const Memory& memory) const override {
    if (band_.before == Band::kAll && band_.after == Band::kAll) return {};
    return seen_pairs(query, memory, [&](Index i, Index j) { return j - i >= -band_.before && j - i <= band_.after; });
  }
  std::optional<FusedWindow> fused(const Query& query) const override {
    return FusedWindow{shifted(band_, query.position)};
  }

 private:
  Band band_;
};

// Beltagy, Peters, Cohan 2020: a band of `reach` to each side; the first `global` positions see and are seen by all.
class Sliding final : public Window {
 public:
  Sliding(Index reach, Index global) : reach_(reach), global_(global) {}
  View operator()(const Query& query, const Memory& memory) const override {
    return seen_pairs(query, memory, [&](Index i, Index j) { return sees(i, j); });
  }
  std::optional<FusedWindow> fused(const Query& query) const override {
    const auto from = std::make_shared<From>(From{reach_, global_, query.position});
    FusedWindow window;
    window.rule.calls.context = from.get();
    window.rule.calls.hide = hide;
    window.rule.calls.range = range;
    window.rule.functors = from;
    return window;
  }

 private:
  // This window for queries of which the first stands at `position`.
  struct From {
    Index reach, global, position;
  };
  bool sees(Index i, Index j) const { return std::abs(j - i) <= reach_ || i < global_ || j < global_; }

  static void hide(const void* context, const kernels::ScoreTile& t, Real* scores) {
    const From& w = *static_cast<const From*>(context);
    for (Index r = 0; r < t.rows; ++r) {
      const Index i = w.position + t.query + r;
      if (i < w.global) continue;
      // Global keys, a gap, the band, and the rest.
      const Index seen = std::clamp<Index>(w.global - t.key, 0, t.columns);
      const Index begin = std::clamp<Index>(i - w.reach - t.key, seen, t.columns);
      const Index end = std::clamp<Index>(i + w.reach + 1 - t.key, begin, t.columns);
      Real* row = scores + r * t.stride;
      std::fill(row + seen, row + begin, -std::numeric_limits<Real>::infinity());
      std::fill(row + end, row + t.columns, -std::numeric_limits<Real>::infinity());
    }
  }
  static kernels::KeyRange range(const void* context, Index, Index, Index first, Index last, kernels::KeyRange within) {
    const From& w = *static_cast<const From*>(context);
    if (w.position + first < w.global) return within;
    const kernels::KeyRange band{std::max(within.begin, w.position + first - w.reach),
                                 std::min(within.end, w.position + last + w.reach + 1)};
    if (within.begin >= w.global) return band;
    const Index global_end = std::min(within.end, w.global);
    return {within.begin, band.begin < band.end ? std::max(band.end, global_end) : global_end};
  }

  Index reach_, global_;
};

const RegisterWindow global{
    {"global", "every position", "all j", "Bahdanau, Cho, Bengio 2015",
     [](const Scope&, const AttentionOptions&) { return std::make_unique<BandWindow>(Band{}); }}};

const RegisterWindow causal_window{
    {"causal", "no position after the query's own", "j <= i", "Vaswani et al. 2017",
     [](const Scope&, const AttentionOptions&) { return std::make_unique<BandWindow>(causal()); }}};

const RegisterWindow local_m{{"local-m", "around the query's own position", "|j - i| <= D", "Luong, Pham, Manning 2015",
                              [](const Scope&, const AttentionOptions& options) {
                                const Index reach = options.half_width;
                                require(reach >= 0, "[local-m] the half width must not be negative: {}", reach);
                                return std::make_unique<BandWindow>(Band{reach, reach});
                              }}};

const RegisterWindow restricted_window{{"restricted", "a neighbourhood of r positions", "|j - i| <= r/2",
                                        "Vaswani et al. 2017", [](const Scope&, const AttentionOptions& options) {
                                          const Index r = options.neighbours;
                                          require(r > 0, "[restricted] the neighbourhood must be positive: {}", r);
                                          return std::make_unique<BandWindow>(restricted(r));
                                        }}};

const RegisterWindow recent{{"recent", "the last r positions up to the query's own", "i - r < j <= i",
                             "Vaswani et al. 2017", [](const Scope&, const AttentionOptions& options) {
                               const Index r = options.neighbours;
                               require(r > 0, "[recent] the neighbourhood must be positive: {}", r);
                               return std::make_unique<BandWindow>(Band{r - 1, 0});
                             }}};

const RegisterWindow sliding{{"sliding", "a neighbourhood, and first positions that see and are seen by all",
                              "|j - i| <= r/2 or i < g or j < g", "Beltagy, Peters, Cohan 2020",
                              [](const Scope&, const AttentionOptions& options) {
                                const Index r = options.neighbours, g = options.global_tokens;
                                require(r > 0, "[sliding] the neighbourhood must be positive: {}", r);
                                require(g >= 0, "[sliding] global tokens must not be negative: {}", g);
                                return std::make_unique<Sliding>(r / 2, g);
                              }}};

}  // namespace
}  // namespace heed
