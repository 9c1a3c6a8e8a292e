#include "heed/autograd/ops/window.h"

#include "heed/base/error.h"

namespace heed {

kernels::Window slide(const SlideNames& names, kernels::Window window, Index after) {
  // Any number beyond this is a mistake, and the arithmetic below cannot overflow.
  constexpr Index kMost = (Index{1} << 31) - 1;
  const auto& [op, axis, slides] = names;
  const auto check = [&](const char* what, Index value, Index least) {
    require(value >= least && value <= kMost, "[{}] the {} over {} must be {} {}, not {}", names.op, what, names.axis,
            value < least ? "at least" : "at most", value < least ? least : kMost, value);
  };
  check("size", window.input, 0);
  check(slides, window.kernel, 1);
  check("stride", window.stride, 1);
  check("dilation", window.dilation, 1);
  check("padding", window.before, 0);
  check("padding", after, 0);
  const Index span = window.dilation * (window.kernel - 1) + 1, padded = window.input + window.before + after;
  require(span <= kMost && span <= padded, "[{}] the {} spans {} positions over {}, the padded input has {}", op,
          slides, span, axis, padded);
  window.output = (padded - span) / window.stride + 1;
  return window;
}

}  // namespace heed
