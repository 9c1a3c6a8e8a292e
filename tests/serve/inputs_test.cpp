#include "heed/serve/inputs.h"

#include <gtest/gtest.h>

namespace heed {
namespace {

Job job_of(std::vector<JobSide> inputs) {
  return {.name = "guessing",
          .verb = "guess",
          .summary = "",
          .inputs = std::move(inputs),
          .output = {.name = "guess", .kind = Kind::label},
          .columns = {},
          .system = ""};
}
Job two_texts() { return job_of({{.name = "premise"}, {.name = "hypothesis"}}); }
Job one_text() { return job_of({{.name = "source"}}); }
Job picture() { return job_of({{.name = "image", .kind = Kind::image}}); }

SentInput sent(const std::string& name, const std::vector<std::string>& texts, bool is_file = false) {
  SentInput input{name, {}};
  for (const std::string& text : texts) input.values.push_back({text, is_file});
  return input;
}

std::string refusal(const Job& job, std::vector<SentInput> inputs, const RequestLimits& limits = {}) {
  try {
    sent_samples(job, std::move(inputs), limits);
  } catch (const HttpError& error) {
    return fmt::format("{} {}", error.status(), error.what());
  }
  ADD_FAILURE() << "it was not refused";
  return "";
}

TEST(SentSamples, AreInTheOrderOfTheJobsInputs) {
  const auto samples = sent_samples(two_texts(), {sent("hypothesis", {"c", "d"}), sent("premise", {"a", "b"})}, {});
  ASSERT_EQ(samples.size(), 2u);
  EXPECT_EQ(samples[1][0].bytes + samples[1][1].bytes, "bd");
  EXPECT_EQ(decoded_sample(two_texts(), samples[0]).inputs.at(1).text, "c");
  EXPECT_TRUE(sent_samples(one_text(), {sent("source", {})}, {}).empty());
}

TEST(SentSamples, TextStandsForTheOnlyText) {
  EXPECT_EQ(sent_samples(one_text(), {sent("text", {"a"})}, {}).at(0).at(0).bytes, "a");
  EXPECT_EQ(refusal(two_texts(), {sent("text", {"a"})}),
            "400 guessing has no input text; there are: premise, hypothesis");
  EXPECT_EQ(refusal(picture(), {sent("text", {"a"})}), "400 guessing has no input text; there are: image");
  EXPECT_EQ(refusal(one_text(), {sent("text", {"a"}), sent("source", {"b"})}), "400 source is there twice");
}

TEST(SentSamples, FaultsAreExplained) {
  EXPECT_EQ(refusal(two_texts(), {sent("premis", {"a"})}), "400 guessing has no input premis; did you mean premise?");
  EXPECT_EQ(refusal(two_texts(), {sent("premise", {"a"})}), "400 the input hypothesis is missing");
  EXPECT_EQ(refusal(two_texts(), {sent("premise", {"a", "b"}), sent("hypothesis", {"c"})}),
            "400 hypothesis has 1 values, but premise has 2");
  EXPECT_EQ(refusal(one_text(), {sent("source", {"\xff"})}), "400 source is not valid UTF-8");
  EXPECT_EQ(refusal(two_texts(), {sent("premise", {"a", " "}), sent("hypothesis", {"b", "c"})}),
            "422 premise is empty: nothing to choose by");
  EXPECT_EQ(refusal(one_text(), {sent("source", {"äöü"})}, {.text = 2}),
            "422 source has 3 characters; at most 2 are allowed");
  EXPECT_EQ(refusal(one_text(), {sent("source", {"a", "b"})}, {.texts = 1}),
            "422 source has 2 values; at most 1 are allowed");
  EXPECT_EQ(refusal(one_text(), {sent("source", {"a"}, true)}), "400 source must be a text, not bytes");
  EXPECT_EQ(refusal(picture(), {sent("image", {"/etc/passwd"})}),
            R"(400 image is of kind image: send {"base64": "..."})");
}

}  // namespace
}  // namespace heed
