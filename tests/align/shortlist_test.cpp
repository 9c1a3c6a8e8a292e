#include "heed/align/shortlist.h"

#include <gtest/gtest.h>

#include <cstring>
#include <fstream>

#include "heed/data/words.h"
#include "support/messages.h"
#include "support/packing.h"
#include "support/temporary_folder.h"

namespace heed {
namespace {

using test::message_of;
using Ids = std::vector<std::int32_t>;
using Entry = LinkCounts::Entry;

class ShortlistFile : public testing::Test {
 protected:
  // Words by number behind the three symbols.
  std::shared_ptr<const Vocabulary> source_ = vocabulary("the house cat 7\n");
  std::shared_ptr<const Vocabulary> target_ = vocabulary("das haus katze 7 kater die\n");

  static std::shared_ptr<const Vocabulary> vocabulary(std::string words) {
    for (char& c : words)
      if (c == ' ') c = '\n';
    return words_from("<unk>\n<s>\n</s>\n" + words, "words", WordCutting::white_space);
  }
  std::string write(std::string_view bytes) const {
    std::ofstream(path(), std::ios::binary) << bytes;
    return path();
  }
  std::string path() const { return (folder_.path() / "list").string(); }
  Shortlist read(std::string_view bytes, const Shortlist::Limits& limits = {.first = 0}) const {
    return Shortlist::read(write(bytes), *source_, *target_, limits);
  }
  // Without the name of the file.
  std::string fault(std::string_view bytes) const {
    const std::string message = message_of([&] { read(bytes); });
    EXPECT_TRUE(message.starts_with(path() + ": ")) << message;
    return message.substr(std::min(message.size(), path().size() + 2));
  }
  // What is damaged in other ways than by its checksum, with the right one.
  static std::string with_checksum(std::string bytes) {
    std::uint64_t sum = 0;
    for (std::size_t at = 16; at + 8 <= bytes.size(); at += 8) {
      std::uint64_t word = 0;
      std::memcpy(&word, bytes.data() + at, 8);
      sum ^= word + 0x9e3779b9 + (sum << 6) + (sum >> 2);
    }
    std::memcpy(bytes.data() + 8, &sum, 8);
    return bytes;
  }
  static std::string with_number(std::string bytes, std::size_t at, std::uint64_t number) {
    std::memcpy(bytes.data() + at, &number, 8);
    return with_checksum(std::move(bytes));
  }
  TemporaryFolder folder_;
};

const std::string kText =
    "das the 0.6\n"
    "die the 0.4\n"
    "haus house 1\n"
    "katze cat 0.75\n"
    "kater cat 0.25\n";

TEST(LinkCounts, GiveProbabilities) {
  LinkCounts counts;
  const Ids source{5, 6}, target{8, 9, 7};
  counts.add({{0, 0}, {1, 1}, {1, 2}}, source, target);
  counts.add({{0, 0}, {1, 2}}, source, target);
  counts.add({{0, 1}}, source, target);
  const auto as_text = [](const std::vector<Entry>& entries) {
    return shortlist_text(
        entries, [](std::int32_t id) { return "s" + std::to_string(id); },
        [](std::int32_t id) { return "t" + std::to_string(id); });
  };
  EXPECT_EQ(as_text(counts.entries(100, 0)), "t8 s5 0.6666667\nt9 s5 0.3333333\nt7 s6 0.6666667\nt9 s6 0.3333333\n");
  EXPECT_EQ(as_text(counts.entries(1, 0)), "t8 s5 0.6666667\nt7 s6 0.6666667\n");
  EXPECT_EQ(as_text(counts.entries(100, 0.5)), "t8 s5 0.6666667\nt7 s6 0.6666667\n");
  EXPECT_NE(message_of([&] {
              counts.add({{2, 0}}, source, target);
            }).find("the link 2-0 is outside"),
            std::string::npos);
}

// The symbols, words that are written alike, and translations: 7 is 6 in both vocabularies.
TEST_F(ShortlistFile, AllowsWhatASentenceNeeds) {
  const Shortlist list = read(kText);
  EXPECT_EQ(list.size(), 5U);
  EXPECT_EQ(list.allowed(Ids{}), (Ids{0, 1, 2}));
  EXPECT_EQ(list.allowed(Ids{3, 4}), (Ids{0, 1, 2, 3, 4, 8}));
  EXPECT_EQ(list.allowed(Ids{5, 5, 6}), (Ids{0, 1, 2, 5, 6, 7}));
  EXPECT_EQ(list.allowed(Ids{77, -1, 4}), (Ids{0, 1, 2, 4}));
  EXPECT_EQ(read(kText, {.first = 5}).allowed(Ids{}), (Ids{0, 1, 2, 3, 4}));
  EXPECT_EQ(read(kText, {.first = 1000}).allowed(Ids{}).size(), 9U);
  EXPECT_EQ(read(kText, {.first = 0, .best = 1}).allowed(Ids{5}), (Ids{0, 1, 2, 5}));
  EXPECT_EQ(read(kText, {.first = 0, .threshold = 0.25}).allowed(Ids{5}), (Ids{0, 1, 2, 5}));
}

TEST_F(ShortlistFile, IsTheSameInEveryForm) {
  const Shortlist text = read(kText, {.first = 4, .best = 50});
  const Shortlist packed = read(test::gzipped(kText), {.first = 4});
  const std::string bytes = text.binary();
  const Shortlist binary = read(bytes, {.first = 0, .best = 1});  // its own limits count
  EXPECT_EQ(read(test::zstd_packed(bytes)).binary(), bytes);
  EXPECT_EQ(binary.binary(), bytes);
  for (const Ids& sentence : {Ids{}, Ids{3}, Ids{3, 4, 5, 6}}) {
    EXPECT_EQ(packed.allowed(sentence), text.allowed(sentence));
    EXPECT_EQ(binary.allowed(sentence), text.allowed(sentence));
  }
}

// 48 bytes of header, 8 offsets of 64 bits, 5 ids of 32.
TEST_F(ShortlistFile, BinaryHasMariansLayout) {
  const std::string bytes = read(kText, {.first = 4, .best = 50}).binary();
  ASSERT_EQ(bytes.size(), 48U + 8 * 8 + 5 * 4);
  const auto number = [&](std::size_t at) {
    std::uint64_t value = 0;
    std::memcpy(&value, bytes.data() + at, 8);
    return value;
  };
  EXPECT_EQ(number(0), 0xF11A48D5013417F5U);
  EXPECT_EQ(number(16), 4U);
  EXPECT_EQ(number(24), 50U);
  EXPECT_EQ(number(32), 8U);
  EXPECT_EQ(number(40), 5U);
  EXPECT_EQ(number(48 + 3 * 8), 0U);
  EXPECT_EQ(number(48 + 4 * 8), 2U);
  EXPECT_EQ(number(48 + 7 * 8), 5U);
  EXPECT_EQ(with_checksum(bytes), bytes);
}

TEST_F(ShortlistFile, LinesWithOtherWordsArePassedOverIfTheyAreFew) {
  EXPECT_EQ(read("NULL the 0.5\ndas NULL 0.5\n\n" + kText).size(), 5U);
  EXPECT_EQ(read("hund dog 1\n" + kText).size(), 5U);
  EXPECT_EQ(fault("hund dog 1\nhund the 0.1\n" + kText),
            "2 of its 7 pairs have a word that the vocabularies lack; it was made for others");
  EXPECT_EQ(fault(""), "0 of its 0 pairs have a word that the vocabularies lack; it was made for others");
}

TEST_F(ShortlistFile, OfAPairThatIsThereTwiceTheLargerProbabilityCounts) {
  const Shortlist list = read("katze cat 0.1\nkater cat 0.2\nkatze cat 0.3\n", {.first = 0, .best = 1});
  EXPECT_EQ(list.allowed(Ids{5}), (Ids{0, 1, 2, 5}));
  EXPECT_EQ(list.size(), 1U);
}

TEST_F(ShortlistFile, DamageIsFound) {
  EXPECT_EQ(fault("das the\n"), "line 1 has 2 fields, not a target word, a source word and a probability");
  for (const char* wrong : {"x", "-1", "nan", "inf", "2", "0.5x", "1e99"})
    EXPECT_EQ(fault(kText + "das the " + wrong + "\n"), fmt::format("line 6: {} is no probability", wrong));

  const std::string bytes = read(kText).binary();
  for (std::size_t size = 8; size < bytes.size(); ++size) fault(bytes.substr(0, size));
  fault(bytes + "1234");
  for (std::size_t at = 8; at < bytes.size() - 4; ++at) {  // the last 32 bits are in no checksum of Marian's
    std::string other = bytes;
    other[at] = static_cast<char>(other[at] ^ 1);
    fault(other);
  }
  constexpr std::uint64_t kMost = ~std::uint64_t{0};
  for (const std::uint64_t number : {std::uint64_t{0}, std::uint64_t{7}, kMost, kMost / 8, kMost / 4}) {
    fault(with_number(bytes, 32, number));
    fault(with_number(bytes, 40, number));
  }
  EXPECT_EQ(fault(with_number(bytes, 48 + 4 * 8, 4)), "its offsets do not rise from 0 to the number of its ids, 5");
  std::string other = bytes;
  other[bytes.size() - 4] = 9;
  EXPECT_EQ(fault(other), "it has the target word 9, but the vocabulary has 9");
  source_ = vocabulary("the house\n");
  EXPECT_EQ(fault(bytes), "it is for 7 source words, but the vocabulary has 5");
}

}  // namespace
}  // namespace heed
