#include "heed/jobs/variant.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "heed/attention/parts.h"
#include "support/messages.h"
#include "support/tiny_bundle.h"

namespace heed {
namespace {

using test::make_tiny;
using test::message_of;

TEST(AttentionOf, NamesTheComposition) {
  EXPECT_EQ(attention_of(make_tiny({.system = "rnnsearch"})), "additive × global × softmax");
  EXPECT_EQ(attention_of(make_tiny({.system = "transformer"})), "");
}

TEST(Normaliser, IsExchangedUnderTheSameWeights) {
  Bundle model = make_tiny({.system = "rnnsearch"});
  model.example = {"a b"}, model.languages = {"en", "de"};
  const std::shared_ptr<const Bundle> sparse = with_normaliser(model, "sparsemax");
  EXPECT_EQ(attention_of(*sparse), "additive × global × sparsemax");
  EXPECT_EQ(sparse->languages, model.languages);
  EXPECT_EQ(sparse->example, model.example);
  ASSERT_EQ(sparse->parameters->count(), model.parameters->count());
  for (const Parameters::Entry& entry : sparse->parameters->entries()) {
    const Tensor& ours = entry.var.value();
    const Tensor& theirs = model.parameters->at(entry.name).value();
    EXPECT_TRUE(std::equal(ours.data(), ours.data() + ours.size(), theirs.data())) << entry.name;
  }
  EXPECT_EQ(message_of([&] { with_normaliser(model, "sparsmax"); }),
            "there is no normaliser sparsmax; did you mean sparsemax?");
  EXPECT_EQ(message_of([] { with_normaliser(make_tiny({.system = "transformer"}), "sparsemax"); }),
            "transformer has no normaliser that can be exchanged");
}

TEST(Normaliser, OthersAreAllThatFit) {
  const Bundle model = make_tiny({.system = "rnnsearch"});
  const std::vector<std::string> others = other_normalisers(model);
  for (const PartEntry<Normaliser>& entry : RegisterNormaliser::entries()) {
    const bool listed = std::find(others.begin(), others.end(), entry.name) != others.end();
    EXPECT_EQ(listed, entry.name != "softmax") << entry.name;  // none of them has parameters
    if (listed) {
      EXPECT_EQ(with_normaliser(model, entry.name)->parameters->count(), model.parameters->count());
    }
  }
  EXPECT_TRUE(other_normalisers(make_tiny({.system = "transformer"})).empty());
}

}  // namespace
}  // namespace heed
