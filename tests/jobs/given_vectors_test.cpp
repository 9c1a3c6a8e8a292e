#include "heed/jobs/given_vectors.h"

#include <gtest/gtest.h>

#include "heed/base/file.h"
#include "support/messages.h"
#include "support/temporary_folder.h"
#include "support/tiny_bundle.h"

namespace heed {
namespace {

class GivenVectors : public testing::Test {
 protected:
  std::string put(const std::string& text) const {
    const std::string file = (folder_.path() / "vectors.txt").string();
    write_file(file, text);
    return file;
  }
  static Bundle bundle(const std::string& frozen) {
    return test::make_tiny({.system = "rocktaschel",
                            .settings = {{"embedding", "2"}, {"frozen", frozen}},
                            .texts = {"Cat dog cat fish\n"},
                            .labels = {"no", "yes"},
                            .deviation = 0});
  }
  // The vector of a word of the premise.
  static std::vector<Real> vector_of(const Bundle& bundle, const std::string& word) {
    const std::int32_t id = bundle.codes.inputs.front()->encode(word).front();
    const Tensor table = bundle.model->word_tables().front().vectors.value();
    return {table.data() + 2 * id, table.data() + 2 * id + 2};
  }
  TemporaryFolder folder_;
};

TEST_F(GivenVectors, AreThoseOfTheirWordsOrOfTheirLowerCase) {
  Bundle given = bundle("true");
  const std::vector<Real> before = vector_of(given, "fish");
  EXPECT_EQ(give_vectors(given, put("cat 1 2\ndog 3 4\nbird 5 6\n")),
            "vectors: 3 of 4 words have one; 1 do not and are learned from the start");
  EXPECT_EQ(vector_of(given, "cat"), (std::vector<Real>{1, 2}));
  EXPECT_EQ(vector_of(given, "Cat"), (std::vector<Real>{1, 2}));
  EXPECT_EQ(vector_of(given, "dog"), (std::vector<Real>{3, 4}));
  EXPECT_EQ(vector_of(given, "fish"), before);
  const Tensor frozen = given.model->word_tables().front().frozen.value();
  double marked = 0;
  for (const Real mark : frozen.values()) marked += static_cast<double>(mark);
  EXPECT_EQ(marked, 3);
  EXPECT_EQ(frozen.data()[given.codes.inputs.front()->encode("fish").front()], 0);
}

TEST_F(GivenVectors, OfAnotherWidthOrOfOtherWordsAreErrors) {
  Bundle given = bundle("false");
  EXPECT_NE(test::message_of([&] { give_vectors(given, put("cat 1 2 3\n")); }).find("3 wide, but the model's are 2"),
            std::string::npos);
  EXPECT_NE(test::message_of([&] { give_vectors(given, put("bird 1 2\n")); }).find("none of the vocabulary's 4 words"),
            std::string::npos);
}

TEST_F(GivenVectors, OfAWriterAreThoseOfWhatItReads) {
  for (const char* system : {"abs", "convs2s", "luong", "rnnsearch"}) {
    std::map<std::string, std::string> settings{{"embedding", "2"}};
    if (system != std::string("abs")) settings["tied"] = "false";
    Bundle given = test::make_tiny({.system = system, .settings = settings, .texts = {"cat dog fish\n"}});
    give_vectors(given, put("cat 1 2\ndog 3 4\n"));
    EXPECT_EQ(vector_of(given, "cat"), (std::vector<Real>{1, 2})) << system;
    EXPECT_EQ(vector_of(given, "dog"), (std::vector<Real>{3, 4})) << system;
  }
}

TEST_F(GivenVectors, AModelWithoutTablesTakesNone) {
  Bundle bag = test::make_tiny({.system = "bag", .texts = {"cat dog\n"}, .labels = {"no", "yes"}});
  EXPECT_EQ(test::message_of([&] { give_vectors(bag, put("cat 1 2\n")); }), "--vectors: bag takes no vectors of words");
}

}  // namespace
}  // namespace heed
