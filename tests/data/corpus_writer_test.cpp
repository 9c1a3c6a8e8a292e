#include "heed/data/corpora/corpus_writer.h"

#include <gtest/gtest.h>

#include <set>

#include "heed/base/file.h"
#include "heed/data/corpora/debian.h"
#include "heed/data/text_file.h"
#include "support/messages.h"
#include "support/temporary_folder.h"

namespace heed {
namespace {

using test::message_of;
using Lines = std::vector<std::string>;

Lines lines_of(const std::filesystem::path& path) {
  LineReader reader(path.string());
  Lines all;
  for (std::string line; reader.next(line);) all.push_back(line);
  return all;
}

TEST(CorpusWriter, PartsShareNoSourceAndStayTogether) {
  const TemporaryFolder folder;
  CorpusOptions options{.folder = folder.path() / "new" / "corpus", .valid = 0.1, .test = 0.2, .alignments = true};
  CorpusWriter writer(options);
  for (int i = 0; i < 3000; ++i) {
    const std::string number = std::to_string(i % 2000);  // a third comes again
    writer.add("source " + number, "target  " + number + (i < 2000 ? "" : " again"), "0-0 1-" + number);
  }
  const CorpusCounts counts = writer.finish();
  EXPECT_EQ(counts.repeated, 1000);
  EXPECT_EQ(counts.train + counts.valid + counts.test, 2000);
  EXPECT_NEAR(static_cast<double>(counts.valid), 200, 50);
  EXPECT_NEAR(static_cast<double>(counts.test), 400, 70);
  std::set<std::string> seen;
  for (const char* part : {"train", "valid", "test"}) {
    const Lines source = lines_of(options.folder / (std::string(part) + ".en")),
                target = lines_of(options.folder / (std::string(part) + ".fr")),
                links = lines_of(options.folder / (std::string(part) + ".align"));
    ASSERT_EQ(source.size(), target.size());
    ASSERT_EQ(source.size(), links.size());
    for (std::size_t i = 0; i < source.size(); ++i) {
      EXPECT_TRUE(seen.insert(source[i]).second) << source[i];
      const std::string number = source[i].substr(7);
      EXPECT_EQ(target[i], "target " + number);
      EXPECT_EQ(links[i], "0-0 1-" + number);
    }
  }
  EXPECT_EQ(seen.size(), 2000U);
}

TEST(CorpusWriter, APairGoesWhereItWentWhateverElseThereIs) {
  const auto test_part = [](int step) {
    const TemporaryFolder folder;
    CorpusWriter writer({.folder = folder.path(), .valid = 0.2, .test = 0.3});
    for (int i = 0; i < 300; i += step) writer.add("s" + std::to_string(i), "t" + std::to_string(i));
    writer.finish();
    const Lines lines = lines_of(folder.path() / "test.en");
    return std::set(lines.begin(), lines.end());
  };
  const std::set<std::string> all = test_part(1), some = test_part(3);
  EXPECT_GT(some.size(), 10U);
  for (const std::string& source : some) EXPECT_TRUE(all.contains(source)) << source;
}

TEST(CorpusWriter, WhatIsNoPairIsCounted) {
  const TemporaryFolder folder;
  CorpusWriter writer({.folder = folder.path(), .valid = 0, .test = 0});
  writer.add("good\n  one", "gut\teins");
  writer.add("same", "same");
  writer.add("", "x");
  writer.add("123 %", "456");
  writer.add("bad", "\xff");
  writer.add("control", "\x01x");
  writer.add("long", std::string(CorpusWriter::kLongestSegment + 1, 'x'));
  const CorpusCounts counts = writer.finish();
  EXPECT_EQ(counts.text(),
            "1 pairs for training, 0 for validation, 0 for the test; left out: 0 repeated, 1 the same on both sides, "
            "5 unusable");
  EXPECT_EQ(lines_of(folder.path() / "train.en"), Lines{"good one"});
  EXPECT_EQ(lines_of(folder.path() / "train.fr"), Lines{"gut eins"});
}

TEST(CorpusWriter, NothingIsReplacedUnlessAsked) {
  const TemporaryFolder folder;
  CorpusOptions options{.folder = folder.path(), .valid = 0, .test = 0};
  {
    CorpusWriter writer(options);
    writer.add("first", "one");
    writer.finish();
  }
  EXPECT_EQ(message_of([&] { CorpusWriter writer(options); }),
            (folder.path() / "train.en").string() + ": it is there already; --force replaces it");
  options.force = true;
  {
    CorpusWriter writer(options);
    writer.add("second", "two");
  }  // not finished
  EXPECT_EQ(lines_of(folder.path() / "train.en"), Lines{"first"});
  {
    CorpusWriter writer(options);
    writer.add("second", "two");
    writer.finish();
  }
  EXPECT_EQ(lines_of(folder.path() / "train.en"), Lines{"second"});
}

TEST(CorpusWriter, ImpossibleCorporaAreErrorsWithoutFiles) {
  const TemporaryFolder folder;
  EXPECT_NE(message_of([&] {
              CorpusWriter({.folder = folder.path(), .valid = 0.6, .test = 0.4});
            }).find("leave nothing for training"),
            std::string::npos);
  EXPECT_NE(message_of([&] { CorpusWriter({.folder = folder.path(), .target = "en"}); }).find("different names"),
            std::string::npos);
  EXPECT_NE(message_of([&] { CorpusWriter({.folder = folder.path()}).finish(); }).find("nothing to train on"),
            std::string::npos);
  EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
}

TEST(Debian, DescriptionsFallIntoSegments) {
  EXPECT_EQ(segments_of_description({"short - text", "One paragraph", "goes on.", ".", "List:", "  * item one",
                                     "  * item two", ".", "End."}),
            (Lines{"short - text", "One paragraph goes on.", "List:", "item one", "item two", "End."}));
  EXPECT_EQ(sentences_of_paragraph("It is e.g. small. It runs! Éh? yes. Done"),
            (Lines{"It is e.g. small.", "It runs!", "Éh? yes.", "Done"}));
}

TEST(Debian, TranslationsAreMatchedByChecksum) {
  const TemporaryFolder folder;
  const auto put = [&](const char* name, std::string_view text) {
    const std::filesystem::path path = folder.path() / name;
    AtomicFile file(path);
    file.write(text);
    file.commit();
    return path.string();
  };
  const std::string packages = put("Packages",
                                   "Package: a\nDescription: short a\nDescription-md5: 1\n\n"
                                   "Package: b\nDescription: short b\nHomepage: x\nDescription-md5: 2\n");
  const std::string english = put("Translation-en",
                                  "Package: a\nDescription-md5: 1\nDescription-en: short a\n First. Second one.\n .\n"
                                  " Third\n part.\n\n");
  const std::string german = put("Translation-de",
                                 "Package: a\nDescription-md5: 1\nDescription-de: kurz a\n Erstens. Zweitens.\n .\n"
                                 " Drittens.\n\nPackage: b\nDescription-md5: 2\nDescription-de: kurz b\n Mehr.\n\n"
                                 "Package: c\nDescription-md5: 3\nDescription-de: kurz c\n");
  DebianDescriptions descriptions;
  descriptions.read_english(packages);
  descriptions.read_english(english);
  std::vector<std::pair<std::string, std::string>> pairs;
  descriptions.read_translations(german, "de",
                                 [&](std::string_view a, std::string_view b) { pairs.emplace_back(a, b); });
  EXPECT_EQ(pairs, (std::vector<std::pair<std::string, std::string>>{{"short a", "kurz a"},
                                                                     {"First.", "Erstens."},
                                                                     {"Second one.", "Zweitens."},
                                                                     {"Third part.", "Drittens."},
                                                                     {"short b", "kurz b"}}));
  EXPECT_EQ(descriptions.counts().english, 2);
  EXPECT_EQ(descriptions.counts().translated, 3);
  EXPECT_EQ(descriptions.counts().without_english, 1);
  EXPECT_EQ(descriptions.counts().other_segments, 1);
}

}  // namespace
}  // namespace heed
