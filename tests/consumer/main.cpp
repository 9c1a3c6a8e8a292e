#include <heed/autograd/ops/elementwise.h>
#include <heed/base/error.h>

#include <cmath>
#include <cstdio>
#include <string>

// y = Σ tanh(x): value and gradient, then an Error thrown inside the library and caught out here.
int main() {
  const heed::Var x = heed::Var::leaf(heed::Tensor(heed::Shape{2}, {0.5F, -1.0F}));
  const heed::Var y = heed::tanh(x);
  heed::Gradients gradients;
  heed::backward(y, heed::Tensor(heed::Shape{2}, 1.0F), gradients);
  const heed::Tensor dx = gradients.of(x);
  for (heed::Index i = 0; i < 2; ++i) {
    const double expected = std::tanh(x.value().at({i}));
    if (std::abs(y.value().at({i}) - expected) > 1e-6 || std::abs(dx.at({i}) - (1 - expected * expected)) > 1e-6) {
      std::printf("tanh or its gradient is wrong at %d\n", static_cast<int>(i));
      return 1;
    }
  }
  try {
    heed::add(x, heed::Tensor(heed::Shape{3}, 1.0F));
  } catch (const heed::Error& error) {
    const std::string text = error.what();
    std::printf("%s\n", text.c_str());
    return text.starts_with("[add]") ? 0 : 1;
  }
  std::printf("shapes [2] and [3] were added\n");
  return 1;
}
