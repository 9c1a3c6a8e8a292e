#include "heed/data/text_file.h"

#include <gtest/gtest.h>

#include <fstream>

#include "support/messages.h"
#include "support/packing.h"
#include "support/temporary_folder.h"

namespace heed {
namespace {

using test::gzipped, test::lz4_packed, test::xz_packed, test::zstd_packed;
using test::message_of;

struct Packing {
  const char* name;
  std::string (*pack)(const std::string&);
};
const Packing kPackings[] = {{"gzip", gzipped}, {"xz", xz_packed}, {"zstd", zstd_packed}, {"lz4", lz4_packed}};

class TextFile : public testing::Test {
 protected:
  std::string write(std::string_view bytes) const {
    std::ofstream(path(), std::ios::binary) << bytes;
    return path();
  }
  std::string path() const { return (folder_.path() / "text").string(); }
  std::vector<std::string> lines(std::string_view bytes) const {
    LineReader reader(write(bytes));
    std::vector<std::string> all;
    for (std::string line; reader.next(line);) all.push_back(line);
    EXPECT_EQ(reader.number(), static_cast<Index>(all.size()));
    return all;
  }
  TemporaryFolder folder_;
};
using Lines = std::vector<std::string>;

// More than several buffers, and not all of it the same.
std::string long_text() {
  std::string text;
  for (int line = 0; line < 40'000; ++line) text += "line " + std::to_string(line * 7919 % 10'007) + " of many\n";
  return text;
}

TEST_F(TextFile, LinesEndInEveryWay) {
  EXPECT_EQ(lines(""), Lines{});
  EXPECT_EQ(lines("\n"), Lines{""});
  EXPECT_EQ(lines("a"), Lines{"a"});
  EXPECT_EQ(lines("a\nb"), (Lines{"a", "b"}));
  EXPECT_EQ(lines("a\r\n\r\nb\r\n"), (Lines{"a", "", "b"}));
  EXPECT_EQ(lines("a\rb\n"), Lines{"a\rb"});
  EXPECT_EQ(lines("\xef\xbb\xbf"
                  "a\n\xef\xbb\xbf"
                  "b\n"),
            (Lines{"a",
                   "\xef\xbb\xbf"
                   "b"}));
  EXPECT_EQ(lines(std::string("a\0b\n", 4)), Lines{std::string("a\0b", 3)});
}

TEST_F(TextFile, EveryPackingGivesTheSameLines) {
  for (const std::string& text : {std::string(), std::string("a\nb"), long_text()}) {
    const Lines expected = lines(text);
    for (const Packing& packing : kPackings) EXPECT_EQ(lines(packing.pack(text)), expected) << packing.name;
  }
}

TEST_F(TextFile, PackedFilesOneAfterAnotherAreOne) {
  for (const Packing& packing : kPackings)
    EXPECT_EQ(lines(packing.pack("a\nb") + packing.pack("") + packing.pack("c\nd")), (Lines{"a", "bc", "d"}))
        << packing.name;
}

TEST_F(TextFile, WhatIsCutOffIsAnErrorAtEveryLength) {
  for (const Packing& packing : kPackings) {
    const std::string packed = packing.pack("some text\nand more of it\n");
    for (std::size_t length = 6; length < packed.size(); ++length) {
      const std::string message = message_of([&] { lines(packed.substr(0, length)); });
      EXPECT_EQ(message, path() + ": its " + packing.name + " data is cut off after byte " + std::to_string(length));
    }
  }
}

TEST_F(TextFile, DamageIsAnErrorOrSeenByNobody) {
  const std::string text = long_text();
  const Lines expected = lines(text);
  for (const Packing& packing : kPackings) {
    const std::string packed = packing.pack(text);
    Index errors = 0;
    for (std::size_t at = 6; at < packed.size(); at += packed.size() / 40) {
      std::string damaged = packed;
      damaged[at] = static_cast<char>(damaged[at] ^ 0x55);
      try {
        const Lines read = lines(damaged);
        // Only a part that carries no text can have been hit; zstd's frames made so have no checksum.
        if (std::string_view(packing.name) != "zstd") {
          EXPECT_EQ(read, expected) << packing.name << " byte " << at;
        }
      } catch (const Error& error) {
        ++errors;
        EXPECT_TRUE(std::string_view(error.what()).starts_with(path() + ": its " + packing.name + " data is"))
            << error.what();
      }
    }
    EXPECT_GT(errors, 10) << packing.name;
  }
}

TEST_F(TextFile, MissingFilesFoldersAndEndlessLinesAreErrors) {
  EXPECT_EQ(message_of([] { LineReader("no/such/file"); }), "no/such/file: cannot open it: No such file or directory");
  EXPECT_EQ(message_of([&] { LineReader reader(folder_.path().string()); }),
            folder_.path().string() + ": it is a directory, not a file");
  const std::string message = message_of([&] { lines("short\n" + std::string(LineReader::kLongestLine + 1, 'x')); });
  EXPECT_EQ(message, path() + ": line 2 is longer than 16777216 bytes; is it a text file?");
}

TEST_F(TextFile, ColumnsAndWords) {
  using Views = std::vector<std::string_view>;
  EXPECT_EQ(columns_of_line("a b\tc"), (Views{"a b", "c"}));
  EXPECT_EQ(columns_of_line(""), Views{""});
  EXPECT_EQ(columns_of_line("\t"), (Views{"", ""}));
  EXPECT_EQ(words_of_line("  a \t b  "), (Views{"a", "b"}));
  EXPECT_EQ(words_of_line(" "), Views{});
}

}  // namespace
}  // namespace heed
