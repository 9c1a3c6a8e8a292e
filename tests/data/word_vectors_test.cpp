#include "heed/data/word_vectors.h"

#include <gtest/gtest.h>

#include <cstring>
#include <fstream>
#include <limits>

#include "support/messages.h"
#include "support/packing.h"
#include "support/temporary_folder.h"

namespace heed {
namespace {

using test::gzipped, test::message_of, test::zstd_packed;
using WordList = std::vector<std::string>;

class WordVectorFile : public testing::Test {
 protected:
  std::string write(std::string_view bytes) const {
    std::ofstream(path(), std::ios::binary) << bytes;
    return path();
  }
  std::string path() const { return (folder_.path() / "vectors").string(); }
  WordVectors read(std::string_view bytes) const {
    return read_word_vectors(write(bytes), [](std::string_view) { return true; });
  }
  // Without the name of the file.
  std::string fault(std::string_view bytes) const {
    const std::string message = message_of([&] { read(bytes); });
    EXPECT_TRUE(message.starts_with(path() + ": ")) << message;
    return message.substr(std::min(message.size(), path().size() + 2));
  }
  TemporaryFolder folder_;
};

std::vector<Real> numbers(const Tensor& tensor) { return {tensor.values().begin(), tensor.values().end()}; }

std::string floats(std::initializer_list<float> values) {
  std::string bytes(values.size() * sizeof(float), '\0');
  std::memcpy(bytes.data(), values.begin(), bytes.size());
  return bytes;
}

// The same two vectors in every form; the binary one as word2vec writes it.
const std::string kGlove = "</s> 0.5 -1 2\nhi 0.25 0 -.125\n";
const std::string kTextFile = "2 3\n</s> 0.500000 -1.000000 2.000000 \nhi 0.250000 0.000000 -0.125000 \n";
const std::string kBinary = "2 3\n</s> " + floats({.5F, -1, 2}) + "\nhi " + floats({.25F, 0, -.125F}) + "\n";
const std::string kBinaryWithoutFeeds = "2 3\n</s> " + floats({.5F, -1, 2}) + "hi " + floats({.25F, 0, -.125F});

TEST_F(WordVectorFile, EveryFormGivesTheSame) {
  ASSERT_EQ(kBinary.size(), 38U);  // word2vec's own bytes of these
  for (const std::string& bytes :
       {kGlove, kTextFile, kBinary, kBinaryWithoutFeeds, "\xef\xbb\xbf" + kGlove, kTextFile + "\n\n", gzipped(kGlove),
        gzipped(kBinary), zstd_packed(kTextFile), zstd_packed(kBinary)}) {
    const WordVectors found = read(bytes);
    EXPECT_EQ(found.words, (WordList{"</s>", "hi"})) << bytes;
    EXPECT_EQ(found.vectors.shape(), (Shape{2, 3}));
    EXPECT_EQ(numbers(found.vectors), (std::vector<Real>{.5F, -1, 2, .25F, 0, -.125F})) << bytes;
    EXPECT_EQ(found.read, 2);
  }
}

TEST_F(WordVectorFile, OnlyWantedWords) {
  for (const std::string& bytes : {kGlove, kTextFile, kBinary}) {
    const auto hi = [](std::string_view word) { return word == "hi"; };
    const WordVectors found = read_word_vectors(write(bytes), hi);
    EXPECT_EQ(found.words, WordList{"hi"});
    EXPECT_EQ(numbers(found.vectors), (std::vector<Real>{.25F, 0, -.125F}));
    EXPECT_EQ(found.read, 2);
    const WordVectors none = read_word_vectors(write(bytes), [](std::string_view) { return false; });
    EXPECT_TRUE(none.words.empty());
    EXPECT_EQ(none.vectors.shape(), (Shape{0, 3}));
  }
}

TEST_F(WordVectorFile, WordsOfEveryKind) {
  const WordVectors found = read("1 1 2\n. . . 3 4\r\nat a@b.org 5 6\n猫\t7\t8\nnan 1e-60 -1E+2\n猫 9 9\n");
  EXPECT_EQ(found.words, (WordList{"1", ". . .", "at a@b.org", "猫", "nan"}));  // the second 猫 is not taken
  EXPECT_EQ(numbers(found.vectors), (std::vector<Real>{1, 2, 3, 4, 5, 6, 7, 8, 0, -100}));
  EXPECT_EQ(found.read, 6);
}

TEST_F(WordVectorFile, WithoutALastLineEnd) {
  EXPECT_EQ(numbers(read("a 1 2\nb 3 4").vectors), (std::vector<Real>{1, 2, 3, 4}));
}

TEST_F(WordVectorFile, ManyEntriesThroughTheBuffer) {
  std::string text, binary = "5000 20\n";
  for (int word = 0; word < 5000; ++word) {
    const std::string name(1 + static_cast<std::size_t>(word) % 37, static_cast<char>('a' + word % 26));
    text += name + std::to_string(word);
    binary += name + std::to_string(word) + " ";
    for (int i = 0; i < 20; ++i) {
      text += " " + std::to_string(word + i) + ".5";
      binary += floats({static_cast<float>(word + i) + .5F});
    }
    text += "\n";
    if (word % 3 == 0) binary += "\n";
  }
  const WordVectors of_text = read(text), of_binary = read(binary);
  EXPECT_EQ(of_text.words, of_binary.words);
  EXPECT_EQ(numbers(of_text.vectors), numbers(of_binary.vectors));
  EXPECT_EQ(of_text.vectors.at({4999, 19}), Real{4999 + 19.5});
}

TEST_F(WordVectorFile, BrokenText) {
  EXPECT_EQ(fault(""), "it is empty; there are no word vectors in it");
  EXPECT_EQ(fault("\n \n"), "it is empty; there are no word vectors in it");
  EXPECT_EQ(fault("lonely\n"), "line 1: a word and its numbers are expected, not \"lonely\"");
  EXPECT_EQ(fault("this is prose.\n"), "line 1: a word and its numbers are expected, not \"this is prose.\"");
  EXPECT_EQ(fault("a 1 2\nb 3\n"), "line 2: it has 1 numbers, not 2");
  EXPECT_EQ(fault("a 1 2\n\nb\n"), "line 3: it has 0 numbers, not 2");
  EXPECT_EQ(fault("a 1 2\nb 3 4 5\n"), "line 2: it has more than 2 numbers");
  EXPECT_EQ(fault("a 1 2\nb 3 4x\n"), "line 2: \"4x\" is no finite number");
  EXPECT_EQ(fault("a 1 2\nb nan 4\n"), "line 2: \"nan\" is no finite number");
  EXPECT_EQ(fault("a 1 2\nb 1e999 4\n"), "line 2: \"1e999\" is no finite number");
  EXPECT_EQ(fault("a 1 2\nb \xff 4\n"), "line 2: \"\" is no finite number");
}

TEST_F(WordVectorFile, HeadersThatDoNotFit) {
  EXPECT_EQ(fault("3 2\na 1 2\nb 3 4\n"), "it is cut off: its header says 3 vectors, and it has 2");
  EXPECT_EQ(fault("1 2\na 1 2\nb 3 4\n"), "line 3: its header says 1 vectors, and here is another");
  EXPECT_EQ(fault("2 3\na 1 2\nb 3 4\n"), "line 2: it has 2 numbers, not 3");
  EXPECT_EQ(fault("0 3\n"), "line 1: its header says that it has no vectors");
  EXPECT_EQ(fault("2 0\na\nb\n"), "line 1: its header says 0 numbers per word; 1 to 65536 are read");
  EXPECT_EQ(fault("2 99999999\na 1\n"), "line 1: its header says 99999999 numbers per word; 1 to 65536 are read");
  EXPECT_EQ(fault("2 3\n"), "it is cut off: its header says 2 vectors, and it has 0");
}

TEST_F(WordVectorFile, BrokenBinary) {
  for (std::size_t size = kBinary.size() - 2; size > 22; --size)  // within the second entry
    EXPECT_EQ(fault(kBinary.substr(0, size)), "entry 2 of 2: it is cut off") << size;
  EXPECT_EQ(fault(kBinary.substr(0, 12)), "entry 1 of 2: it is cut off");
  EXPECT_EQ(fault(kBinary + "x"), "entry 3: its header says 2 vectors, and here is more");
  const float infinity = std::numeric_limits<float>::infinity();
  EXPECT_EQ(fault("1 2\na " + floats({infinity, 0})), "entry 1: inf is no finite number");
  EXPECT_EQ(fault("2 2\na " + floats({1, 0}) + std::string(70'000, 'x') + " 12345678"),
            "entry 2: its word is longer than 65536 bytes; the entries before it are broken");
}

TEST_F(WordVectorFile, DamagedPacking) {
  const std::string packed = gzipped(kBinary);
  EXPECT_NE(fault(packed.substr(0, packed.size() / 2)).find("cut off"), std::string::npos);
  EXPECT_NE(message_of([] {
              read_word_vectors("no/such/file", [](std::string_view) { return true; });
            }).find("no/such/file: cannot open it"),
            std::string::npos);
}

}  // namespace
}  // namespace heed
