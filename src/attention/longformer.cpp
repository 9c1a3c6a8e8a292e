#include "heed/attention/longformer.h"

#include "heed/autograd/ops/shape.h"

namespace heed {
namespace {

MultiHeadOptions with_window(MultiHeadOptions options, const char* window) {
  options.attention.score = "scaled-dot";
  options.attention.window = window;
  options.attention.normaliser = "softmax";
  options.output = false;
  return options;
}

}  // namespace

Longformer::Longformer(const Scope& scope, const MultiHeadOptions& options)
    : global_tokens_(options.attention.global_tokens),
      sliding_(scope / "sliding", with_window(options, "sliding")),
      global_(scope / "global", with_window(options, "global")),
      output_(scope / "output", options.width, options.width) {}

Var Longformer::operator()(const Var& x, const Ids& lengths) const {
  const Index n = x.size(1), global = std::min(global_tokens_, n);
  std::vector<Var> parts;
  if (global > 0) parts.push_back(global_(slice(x, 1, 0, global), global_.memory(x, lengths)).read);
  if (global < n) parts.push_back(sliding_(slice(x, 1, global, n), sliding_.memory(x, lengths), global).read);
  return output_(parts.size() == 1 ? parts.front() : concat(parts, 1));
}

}  // namespace heed
