#include "heed/tensor/tensor.h"

#include <gtest/gtest.h>

namespace heed {
namespace {

TEST(Tensor, ViewsShareMemory) {
  Tensor x(Shape{2, 3}, {0, 1, 2, 3, 4, 5});
  const Tensor t = x.transpose(0, 1);
  EXPECT_EQ(t.at({2, 1}), 5);
  x.data()[5] = 9;
  EXPECT_EQ(t.at({2, 1}), 9);
}

}  // namespace
}  // namespace heed
