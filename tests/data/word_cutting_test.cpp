#include "heed/data/word_cutting.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "heed/data/words.h"

namespace heed {
namespace {

// The words with a bar between them.
std::string cut(WordCutting cutting, std::string_view text) {
  std::string words;
  cut_words(cutting, text, [&](std::string_view word, std::size_t, std::size_t) {
    words += (words.empty() ? "" : "|") + std::string(word);
  });
  return words;
}
std::string tokens(std::string_view text) { return cut(WordCutting::tokens, text); }

TEST(WordCutting, AtWhiteSpaceChangesNothing) {
  EXPECT_EQ(cut(WordCutting::white_space, " It's  Über-all.\t"), "It's|Über-all.");
  EXPECT_EQ(cut(WordCutting::white_space, ""), "");
}

TEST(WordCutting, TokensAreLowerCaseWithPunctuationApart) {
  EXPECT_EQ(tokens("Once again, Mr. COSTNER!"), "once|again|,|mr|.|costner|!");
  EXPECT_EQ(tokens("Über 3.5 % (naïve)"), "über|3|.|5|%|(|naïve|)");
  EXPECT_EQ(tokens("  "), "");
  EXPECT_EQ(tokens("word"), "word");
}

TEST(WordCutting, ContractionsStandApart) {
  EXPECT_EQ(tokens("Don't say it's they're, I'll've"), "do|n't|say|it|'s|they|'re|,|i|'ll|'ve");
  EXPECT_EQ(tokens("can’t"), "ca|n't");
  EXPECT_EQ(tokens("the dogs' o'clock 'tis n't"), "the|dogs|'|o|'|clock|'|tis|n|'|t");
}

TEST(WordCutting, BreaksOfHtmlAreWhiteSpace) {
  EXPECT_EQ(tokens("good.<br /><br />Bad<BR>a <p> b</p>c < b > d"), "good|.|bad|a|b|c|<|b|>|d");
}

TEST(WordCutting, ChineseAndJapaneseAreCutIntoCharacters) { EXPECT_EQ(tokens("我喜欢PDF。カ"), "我|喜|欢|pdf|。|カ"); }

TEST(WordCutting, SaysWhereEachWordStands) {
  std::vector<std::pair<std::size_t, std::size_t>> places;
  cut_words(WordCutting::tokens, "Ü didn't",
            [&](std::string_view, std::size_t begin, std::size_t end) { places.emplace_back(begin, end); });
  EXPECT_EQ(places, (std::vector<std::pair<std::size_t, std::size_t>>{{0, 2}, {3, 6}, {6, 9}}));
}

TEST(TokenVocabulary, IsKeptInAFileOfItsOwnKind) {
  const auto words = words_from("<unk>\n<s>\n</s>\nit\n's\n", "here", WordCutting::tokens);
  EXPECT_EQ(words->file_name("document"), "document.tokens.txt");
  EXPECT_EQ(words->encode("IT'S it"), (std::vector<std::int32_t>{3, 4, 3}));
  EXPECT_EQ(words->places("Ö it's"), (std::vector<TextPlace>{{0, 1}, {2, 4}, {4, 6}}));
}

}  // namespace
}  // namespace heed
