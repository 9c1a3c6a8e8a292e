#include <functional>

#include "heed/attention/parts.h"

namespace heed {
namespace {

// Windows that compare the position of a query with that of a key, and nothing else.
class PositionWindow final : public Window {
 public:
  using Rule = std::function<bool(Index query, Index key)>;
  explicit PositionWindow(Rule rule) : rule_(std::move(rule)) {}
  View operator()(const Query& query, const Memory& memory) const override {
    if (!rule_) return {};
    const Index n = query.count(), m = memory.size();
    Mask visible(Shape{n, m});
    for (Index i = 0; i < n; ++i)
      for (Index j = 0; j < m; ++j) visible.data()[i * m + j] = rule_(query.position + i, j);
    return {visible, {}};
  }

 private:
  Rule rule_;
};

std::unique_ptr<Window> positions(PositionWindow::Rule rule) {
  return std::make_unique<PositionWindow>(std::move(rule));
}

const RegisterWindow global{{"global", "every position", "all j", "Bahdanau, Cho, Bengio 2015",
                             [](const Scope&, const AttentionOptions&) { return positions(nullptr); }}};

const RegisterWindow causal{
    {"causal", "no position after the query's own", "j <= i", "Vaswani et al. 2017",
     [](const Scope&, const AttentionOptions&) { return positions([](Index i, Index j) { return j <= i; }); }}};

const RegisterWindow local_m{{"local-m", "around the query's own position", "|j - i| <= D", "Luong, Pham, Manning 2015",
                              [](const Scope&, const AttentionOptions& options) {
                                const Index reach = options.half_width;
                                require(reach >= 0, "[local-m] the half width must not be negative: {}", reach);
                                return positions([reach](Index i, Index j) { return std::abs(j - i) <= reach; });
                              }}};

const RegisterWindow restricted{{"restricted", "a neighbourhood of r positions", "|j - i| <= r/2",
                                 "Vaswani et al. 2017", [](const Scope&, const AttentionOptions& options) {
                                   const Index r = options.neighbours;
                                   require(r > 0, "[restricted] the neighbourhood must be positive: {}", r);
                                   return positions([r](Index i, Index j) { return std::abs(j - i) <= r / 2; });
                                 }}};

const RegisterWindow recent{{"recent", "the last r positions up to the query's own", "i - r < j <= i",
                             "Vaswani et al. 2017", [](const Scope&, const AttentionOptions& options) {
                               const Index r = options.neighbours;
                               require(r > 0, "[recent] the neighbourhood must be positive: {}", r);
                               return positions([r](Index i, Index j) { return j <= i && i - j < r; });
                             }}};

const RegisterWindow sliding{
    {"sliding", "a neighbourhood, and first positions that see and are seen by all", "|j - i| <= r/2 or i < g or j < g",
     "Beltagy, Peters, Cohan 2020", [](const Scope&, const AttentionOptions& options) {
       const Index r = options.neighbours, g = options.global_tokens;
       require(r > 0, "[sliding] the neighbourhood must be positive: {}", r);
       require(g >= 0, "[sliding] global tokens must not be negative: {}", g);
       return positions([r, g](Index i, Index j) { return std::abs(j - i) <= r / 2 || i < g || j < g; });
     }}};

}  // namespace
}  // namespace heed
