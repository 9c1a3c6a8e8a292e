#include "heed/store/checkpoint.h"

#include <gtest/gtest.h>

#include <fstream>
#include <limits>

#include "heed/store/safetensors.h"
#include "support/messages.h"
#include "support/temporary_folder.h"

namespace heed {
namespace {

using test::message_of;

TEST(Checkpoint, ReadsBackTheSameBits) {
  const TemporaryFolder folder;
  const auto path = folder.path() / "c";
  Checkpoint saved;
  saved["optimiser"] = {{{"a.b.first", Tensor(Shape{2}, {Real{0.1F}, Real{-3}})}}, {{"a.b.steps", 123456789}}};
  saved["loop"].numbers = {{"third", 1.0 / 3}, {"tiny", std::numeric_limits<double>::denorm_min()}, {"many", 9e15}};
  saved["schedule"] = {};
  save_checkpoint(path, saved);
  const Checkpoint loaded = load_checkpoint(path);
  EXPECT_EQ(part_of(loaded, "optimiser").tensor("a.b.first", "test").at({0}), Real{0.1F});
  EXPECT_EQ(part_of(loaded, "optimiser").number("a.b.steps", "test"), 123456789);
  EXPECT_EQ(part_of(loaded, "loop").number("third", "test"), 1.0 / 3);
  EXPECT_EQ(part_of(loaded, "loop").number("tiny", "test"), std::numeric_limits<double>::denorm_min());
  EXPECT_EQ(part_of(loaded, "loop").number("many", "test"), 9e15);
  EXPECT_TRUE(part_of(loaded, "schedule").numbers.empty());
}

TEST(Checkpoint, WhatIsNoneIsRefused) {
  const TemporaryFolder folder;
  const auto path = folder.path() / "c";
  const std::string name = path.string();
  EXPECT_EQ(message_of([&] { load_checkpoint(path); }), name + ": cannot open it: No such file or directory");
  const std::vector<NamedTensor> tensors{{"weight", Tensor(Shape{1}, Real{1})}};
  save_safetensors(path, tensors);
  EXPECT_EQ(message_of([&] { load_checkpoint(path); }), name + ": it is not a checkpoint");
  save_safetensors(path, tensors, {{"heed checkpoint", "7"}});
  EXPECT_EQ(message_of([&] { load_checkpoint(path); }),
            name + ": it is a checkpoint of version \"7\", this program reads version 1");
  save_safetensors(path, tensors, {{"heed checkpoint", "1"}});
  EXPECT_EQ(message_of([&] { load_checkpoint(path); }), name + ": \"weight\" belongs to no part of a checkpoint");
  save_safetensors(path, {}, {{"heed checkpoint", "1"}, {"loop/step", "ten"}});
  EXPECT_EQ(message_of([&] { load_checkpoint(path); }), name + ": \"loop/step\" is \"ten\", not a number");
}

}  // namespace
}  // namespace heed
