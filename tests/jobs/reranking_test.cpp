// Answers that are chosen anew by n-gram models.

#include "heed/jobs/reranking.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "heed/base/file.h"
#include "heed/data/words.h"
#include "support/messages.h"
#include "support/temporary_folder.h"

namespace heed::test {
namespace {

using Texts = std::vector<std::string>;

std::shared_ptr<const Vocabulary> animals() {
  return words_from("<unk>\n<s>\n</s>\nthe\ncat\ndog\nsat\nran\n.\n", "words", WordCutting::tokens);
}
const Texts kDocuments{"the cat sat . the dog ran .", "the dog ran . the cat sat . the cat ran ."};
const std::string kDocument = "the Zebu sat . the cat ran .";
const std::string kQuestion = "the XXXXX sat .";

// The sentences above, each once.
std::vector<std::vector<std::int32_t>> encoded_texts(const Vocabulary& vocabulary, const Texts& texts) {
  std::vector<std::vector<std::int32_t>> all;
  for (const std::string& text : texts) all.push_back(vocabulary.encode(text));
  return all;
}

TEST(Reranking, FeaturesAreThoseOfTheQuestionWithTheAnswerInItsBlank) {
  const auto vocabulary = animals();
  const Reranking reranking(vocabulary, kDocuments, {.order = 3});
  const Texts answers{"cat", "Zebu"};
  const auto found = reranking.features(kDocument, kQuestion, answers);
  ASSERT_EQ(found.size(), 2U);
  const NgramModel global(encoded_texts(*vocabulary, {"the cat sat .", "the dog ran .", "the cat ran ."}),
                          {.order = 3, .vocabulary = vocabulary->size(), .least = 2});
  EXPECT_DOUBLE_EQ(found[0][0], global.log_probability(vocabulary->encode("the cat sat .")));
  EXPECT_DOUBLE_EQ(found[1][0], global.log_probability(vocabulary->encode("the unheard sat .")));
  const auto own = extended_by(vocabulary, kDocument);
  const NgramModel local(encoded_texts(*own, {"the Zebu sat .", "the cat ran ."}),
                         {.order = 3, .vocabulary = own->size()});
  EXPECT_DOUBLE_EQ(found[1][1], local.log_probability(own->encode("the Zebu sat .")));
  EXPECT_GT(found[1][1], found[0][1]);  // only its document knows what the Zebu did
  EXPECT_GT(found[0][0], found[1][0]);
}

TEST(Reranking, ProbabilitiesOfTheBestAreSharedOutAnew) {
  Reranking reranking(animals(), kDocuments, {.order = 3, .best = 2});
  const Texts answers{"ran", "cat", "Zebu"};
  const std::vector<double> probabilities{0.2, 0.5, 0.3};
  EXPECT_EQ(reranking.best(), 2);
  const auto unweighted = reranking.reranked(kDocument, kQuestion, answers, probabilities);
  for (std::size_t i = 0; i < 3; ++i) EXPECT_NEAR(unweighted[i], probabilities[i], 1e-12);
  reranking.set_weights({0, 1, 0});
  const auto found = reranking.reranked(kDocument, kQuestion, answers, probabilities);
  const auto features = reranking.features(kDocument, kQuestion, std::vector(answers.begin() + 1, answers.end()));
  const double cat = 0.5 * std::exp(features[0][1]), zebu = 0.3 * std::exp(features[1][1]);
  EXPECT_DOUBLE_EQ(found[0], 0.2);  // none of the two best
  EXPECT_NEAR(found[1], 0.8 * cat / (cat + zebu), 1e-12);
  EXPECT_NEAR(found[2], 0.8 * zebu / (cat + zebu), 1e-12);
  EXPECT_GT(found[2], found[1]);
}

TEST(Reranking, IsKeptInTheFolder) {
  const TemporaryFolder temporary;
  const ModelFolder folder = ModelFolder::create(
      temporary.path() / "model", {"aoa", "reading"}, [](Fields&) {}, {}, false);
  const auto vocabulary = animals();
  EXPECT_EQ(Reranking::load(folder, vocabulary), nullptr);
  Reranking reranking(vocabulary, kDocuments, {.order = 4, .best = 7});
  reranking.set_weights({0.5, -0.25, 1.5});
  reranking.save(folder);
  const auto back = Reranking::load(folder, vocabulary);
  ASSERT_NE(back, nullptr);
  EXPECT_EQ(back->weights(), reranking.weights());
  EXPECT_EQ(back->best(), 7);
  const Texts answers{"cat", "dog", "Zebu"};
  EXPECT_EQ(back->features(kDocument, kQuestion, answers), reranking.features(kDocument, kQuestion, answers));
  folder.verify(ModelFolder::Verify::without_tensors);  // its digest is known

  const std::filesystem::path file = folder.path() / "reranking.ngrams";
  const std::string bytes = read_file(file);
  EXPECT_NE(message_of([&] {
              Reranking::load(folder, words_from("<unk>\n<s>\n</s>\nthe\n", "words", WordCutting::tokens));
            }).find("of another vocabulary than that of 4 words"),
            std::string::npos);
  write_file(file, bytes.substr(0, bytes.size() / 2));
  EXPECT_NE(message_of([&] { Reranking::load(folder, vocabulary); }).find("it is damaged"), std::string::npos);
  EXPECT_NE(message_of([&] { folder.verify(ModelFolder::Verify::without_tensors); }).find("reranking.ngrams"),
            std::string::npos);
}

}  // namespace
}  // namespace heed::test
