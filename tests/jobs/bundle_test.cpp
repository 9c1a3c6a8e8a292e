#include "heed/jobs/bundle.h"

#include <gtest/gtest.h>

#include "support/temporary_folder.h"
#include "support/tiny_bundle.h"

namespace heed {
namespace {

Codes codes_of(const test::TinyBundle& tiny) {
  const TemporaryFolder folder;
  return load_bundle(ModelFolder(test::make_tiny_folder(folder.path() / "model", tiny)), FolderWeights::trained).codes;
}

TEST(Bundle, SidesOfTheSameFileShareOneVocabulary) {
  for (const bool subwords : {false, true}) {
    const Codes joint = codes_of({.system = "rnnsearch", .subwords = subwords});
    EXPECT_EQ(joint.output, joint.inputs.front());
  }
  const Codes pair = codes_of({.system = "rocktaschel", .labels = {"yes", "no"}});
  EXPECT_EQ(pair.inputs.at(1), pair.inputs.at(0));
}

TEST(Bundle, SidesOfDifferentFilesHaveTheirOwn) {
  const Codes codes = codes_of({.system = "rnnsearch", .texts = {"a b c\n", "x y\n"}});
  EXPECT_EQ(codes.inputs.front()->encode("a b c").size(), 3U);
  EXPECT_EQ(codes.inputs.front()->encode("x"), (std::vector<std::int32_t>{kUnknown}));
  EXPECT_NE(codes.output->encode("x"), (std::vector<std::int32_t>{kUnknown}));
}

}  // namespace
}  // namespace heed
