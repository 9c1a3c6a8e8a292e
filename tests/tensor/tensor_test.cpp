#include "heed/tensor/tensor.h"

#include <gtest/gtest.h>

#include "support/messages.h"

namespace heed::test {
namespace {

Tensor counting(const Shape& shape) {
  Tensor x(shape);
  for (Index i = 0; i < x.size(); ++i) x.data()[i] = static_cast<Real>(i);
  return x;
}

TEST(Tensor, DefaultIsEmptyAndFalse) {
  const Tensor nothing;
  EXPECT_FALSE(nothing);
  EXPECT_TRUE(Tensor(Shape{0, 3}));  // no elements, but a tensor
  EXPECT_EQ(Tensor::scalar(3).item(), 3);
}

TEST(Tensor, ViewsShareMemory) {
  Tensor x = counting(Shape{2, 3});
  const Tensor t = x.transpose(0, 1);
  EXPECT_EQ(t.at({2, 1}), 5);
  x.data()[5] = 9;
  EXPECT_EQ(t.at({2, 1}), 9);
  EXPECT_FALSE(x.unique());
}

TEST(Tensor, UniqueWhileAlone) {
  Tensor x = counting(Shape{4});
  EXPECT_TRUE(x.unique());
  {
    const Tensor view = x.slice(0, 1, 2);
    EXPECT_FALSE(x.unique());
  }
  EXPECT_TRUE(x.unique());
}

TEST(Tensor, ContiguousCopiesOnlyWhatIsNot) {
  const Tensor x = counting(Shape{2, 3});
  EXPECT_EQ(x.contiguous().data(), x.data());
  const Tensor t = x.transpose(0, 1).contiguous();
  EXPECT_NE(t.data(), x.data());
  EXPECT_EQ(t.at({2, 0}), 2);
  EXPECT_EQ(x.slice(0, 1, 2).contiguous().data(), x.data() + 3);  // a run of rows is packed already
  EXPECT_NE(x.copy().data(), x.data());
}

TEST(Tensor, ReshapeOfAViewIsInItsOrder) {
  const Tensor t = counting(Shape{2, 3}).transpose(0, 1).reshape(Shape{6});
  const Real expected[] = {0, 3, 1, 4, 2, 5};
  for (Index i = 0; i < 6; ++i) EXPECT_EQ(t.at({i}), expected[i]);
}

TEST(Tensor, TransposeOfAVeryLongRowIsAView) {
  const Index length = Index{1} << 30;  // its square would overflow
  const Tensor row = Tensor::scalar(3).expand(Shape{1, length});
  const Tensor column = row.transpose(0, 1);
  EXPECT_EQ(column.shape(), (Shape{length, 1}));
  EXPECT_EQ(column.at({length - 1, 0}), 3);
}

TEST(Tensor, MisuseIsAnErrorWithTheNumbers) {
  const Tensor x = counting(Shape{2, 3});
  EXPECT_EQ(message_of([&] {
              x.reshape(Shape{4, 2});
            }),
            "[reshape] shape [2, 3] (6 elements) cannot become [4, 2] (8 elements)");
  EXPECT_EQ(message_of([&] { x.transpose(0, 2); }), "[transpose] axis 2 does not exist in shape [2, 3]");
  EXPECT_EQ(message_of([&] { x.slice(1, 2, 4); }), "[slice] range 2..4 is outside axis 1 of shape [2, 3]");
  EXPECT_EQ(message_of([&] { x.slice(1, 2, 1); }), "[slice] range 2..1 is outside axis 1 of shape [2, 3]");
  EXPECT_EQ(message_of([&] { x.slice(0, -1, 1); }), "[slice] range -1..1 is outside axis 0 of shape [2, 3]");
  EXPECT_EQ(message_of([&] {
              x.expand(Shape{4, 3});
            }),
            "[expand] shapes [2, 3] and [4, 3] do not broadcast: 2 against 4");
  EXPECT_EQ(message_of([&] { x.expand(Shape{3}); }), "[expand] shape [2, 3] does not expand to [3]");
  EXPECT_EQ(message_of([&] { (void)x.item(); }), "[item] a tensor of shape [2, 3] is not one number");
  EXPECT_EQ(message_of([&] { (void)x.at({1}); }), "[at] 1 indices for shape [2, 3]");
  EXPECT_EQ(message_of([&] { (void)x.at({1, 3}); }), "[at] index 3 is outside 0..2");
  EXPECT_EQ(message_of([] { Tensor(Shape{2}, {1, 2, 3}); }), "[tensor] 3 values do not fill shape [2]");
}

}  // namespace
}  // namespace heed::test
