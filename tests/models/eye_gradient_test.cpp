#include <gtest/gtest.h>

#include <cmath>

#include "heed/autograd/gradient_check.h"
#include "heed/models/eye.h"

namespace heed {
namespace {

// By every number of the picture and of the parameters.
TEST(EyeGradient, IsThatOfCentralDifferences) {
  for (const char* name : {"small", "efficientnet-lite0"}) {
    const EyeConfig config{.encoder = name, .picture = 9, .layers = "stem", .grid = 2, .fine_tune = true};
    Parameters parameters;
    const Eye eye(parameters, config);
    Tensor pixels(Shape{2, 81, 3});
    for (Index i = 0; i < pixels.size(); ++i) pixels.data()[i] = std::sin(static_cast<double>(3 * i));
    std::vector<Var> leaves{Var::leaf(pixels)};
    for (const Parameters::Entry& entry : parameters.entries()) leaves.push_back(entry.var);
    const GradientCheck check = check_gradient([&] { return eye(leaves[0]); }, leaves);
    EXPECT_LE(check.worst, 1e-7) << name << " " << check.where;
  }
}

}  // namespace
}  // namespace heed
