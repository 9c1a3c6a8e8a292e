#include "heed/data/corpora/headlines.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <map>
#include <set>

#include "heed/data/text_file.h"
#include "heed/data/word_links.h"

namespace heed {
namespace {

bool is_name(std::string_view word) { return std::isupper(static_cast<unsigned char>(word.front())) != 0; }

TEST(Headlines, SayWhatTheTextSays) {
  const std::vector<HeadlinePair> pairs = generate_headlines(300, 5);
  ASSERT_EQ(pairs.size(), 300u);
  std::set<std::string> texts;
  for (const HeadlinePair& pair : pairs) {
    EXPECT_TRUE(texts.insert(pair.text).second);
    const auto text = words_of_line(pair.text), headline = words_of_line(pair.headline);
    ASSERT_EQ(headline.size(), 5u) << pair.headline;
    EXPECT_EQ(std::count(text.begin(), text.end(), "."), pair.sentences);
    const WordLinks links = read_word_links(pair.links).value();
    ASSERT_EQ(links.size(), 4u);
    for (const auto& [from, to] : links) {
      const std::string_view word = text[static_cast<std::size_t>(from)], said = headline[static_cast<std::size_t>(to)];
      EXPECT_TRUE(to == 1 || word == said) << pair.text << " -> " << pair.headline;  // the verb changes its form
      // All of them stand in the one sentence.
      EXPECT_EQ(std::count(text.begin(), text.begin() + from, "."), pair.sentence) << pair.text;
    }
    EXPECT_TRUE(is_name(headline[0]) && is_name(headline[4])) << pair.headline;
  }
}

TEST(Headlines, NamesAreTooManyForAVocabulary) {
  std::map<std::string, int> names;
  for (const HeadlinePair& pair : generate_headlines(2000, 1))
    for (const std::string_view word : words_of_line(pair.headline))
      if (is_name(word)) ++names[std::string(word)];
  EXPECT_GT(names.size(), 3500u);  // of 4000
}

TEST(Headlines, TheSeedDecides) {
  EXPECT_EQ(generate_headlines(20, 3).back().text, generate_headlines(20, 3).back().text);
  EXPECT_NE(generate_headlines(20, 3).back().text, generate_headlines(20, 4).back().text);
}

}  // namespace
}  // namespace heed
