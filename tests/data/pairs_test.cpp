#include "heed/data/pairs.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <fstream>
#include <map>

#include "heed/base/random.h"
#include "heed/base/threads.h"
#include "heed/data/subwords.h"
#include "heed/data/words.h"
#include "support/messages.h"
#include "support/temporary_folder.h"

namespace heed {
namespace {

using test::message_of;

// A corpus of `count` pairs with lengths from 1 to 12, in which every pair is different.
class Corpus {
 public:
  explicit Corpus(Index count = 0) {
    RandomSequence random(RandomKey{11});
    std::string source, target;
    for (Index line = 0; line < count; ++line) {
      source += "s" + std::to_string(line) + words(random.below(11)) + "\n";
      target += "t" + std::to_string(line) + words(random.below(11)) + "\n";
    }
    write("source", source);
    write("target", target);
  }
  std::string write(const std::string& name, std::string_view text) const {
    const std::string path = (folder_.path() / name).string();
    std::ofstream(path, std::ios::binary) << text;
    return path;
  }
  PairOptions options() const {
    PairOptions options;
    options.source_files = {(folder_.path() / "source").string()};
    options.target_files = {(folder_.path() / "target").string()};
    options.source = train_words(options.source_files, {});
    options.target = train_words(options.target_files, {});
    options.batch_tokens = 64;
    return options;
  }

 private:
  static std::string words(std::uint64_t count) {
    std::string text;
    for (std::uint64_t i = 0; i < count; ++i) text += " w" + std::to_string(i);
    return text;
  }
  TemporaryFolder folder_;
};

// Everything of a batch, to compare.
std::vector<Index> contents(const PairBatch& batch) {
  std::vector<Index> all(batch.lines);
  for (const Ids* ids :
       {&batch.source.words, &batch.source.lengths, &batch.previous.words, &batch.previous.lengths, &batch.expected})
    all.insert(all.end(), ids->values().begin(), ids->values().end());
  return all;
}

std::vector<std::vector<Index>> take(PairBatches& batches, Index count) {
  std::vector<std::vector<Index>> all;
  for (Index i = 0; i < count; ++i) all.push_back(contents(batches.next()));
  return all;
}

TEST(Pairs, ABatchIsShiftedAndPadded) {
  const Corpus corpus;
  PairOptions options;
  options.tsv = corpus.write("tsv", "a b\tx y z\nc\tx\n");
  options.source = train_words({options.tsv}, {.column = 0});  // a 3, b 4, c 5
  options.target = train_words({options.tsv}, {.column = 1});  // x 3, y 4, z 5
  options.shuffle = false;
  const PairBatch batch = PairBatches(options).next();
  const auto row = [](const Ids& ids) { return std::vector<std::int32_t>(ids.values().begin(), ids.values().end()); };
  EXPECT_EQ(batch.lines, (std::vector<Index>{1, 0}));  // the shorter first
  EXPECT_EQ(batch.source.words.shape(), (Shape{2, 3}));
  EXPECT_EQ(row(batch.source.lengths), (std::vector<std::int32_t>{2, 3}));
  EXPECT_EQ(row(batch.source.words), (std::vector<std::int32_t>{5, kEnd, kEnd, 3, 4, kEnd}));
  EXPECT_EQ(row(batch.previous.lengths), (std::vector<std::int32_t>{2, 4}));
  EXPECT_EQ(row(batch.previous.words), (std::vector<std::int32_t>{kBegin, 3, kEnd, kEnd, kBegin, 3, 4, 5}));
  EXPECT_EQ(row(batch.expected), (std::vector<std::int32_t>{3, kEnd, -1, -1, 3, 4, 5, kEnd}));
  EXPECT_EQ(batch.source_words, 5);
  EXPECT_EQ(batch.target_words, 6);
  EXPECT_FALSE(batch.alignment);
}

TEST(Pairs, EveryPairComesOnceAnEpochWithinTheLimits) {
  const Corpus corpus(301);
  for (const Index buffer : {1, 7, 100, 301, 1000})
    for (const Index sentences : {0, 3}) {
      PairOptions options = corpus.options();
      options.buffer = buffer;
      options.batch_sentences = sentences;
      PairBatches batches(options);
      for (Index epoch = 0; epoch < 3; ++epoch) {
        std::vector<Index> seen;
        while (batches.position().epoch == epoch) {
          const PairBatch batch = batches.next();
          EXPECT_LE(batch.source.batch() * std::max(batch.source.longest(), batch.previous.longest()), 64);
          EXPECT_LE(batch.source.batch(), sentences > 0 ? sentences : 64);
          seen.insert(seen.end(), batch.lines.begin(), batch.lines.end());
        }
        std::sort(seen.begin(), seen.end());
        ASSERT_EQ(seen.size(), 301U) << "buffer " << buffer;
        for (Index line = 0; line < 301; ++line) EXPECT_EQ(seen[static_cast<std::size_t>(line)], line);
      }
      EXPECT_TRUE(batches.report().complete);
      EXPECT_EQ(batches.report().lines, 301);
      EXPECT_EQ(batches.report().kept, 301);
    }
}

TEST(Pairs, EpochsAndSeedsDifferAndRunsAgree) {
  const Corpus corpus(200);
  PairOptions options = corpus.options();
  PairBatches first(options), again(options);
  Index count = 0;
  for (; first.position().epoch == 0; ++count) EXPECT_EQ(contents(first.next()), contents(again.next()));
  again.seek({0, 0});
  EXPECT_NE(take(first, count), take(again, count));  // epoch 1 against epoch 0
  options.seed = 2;
  PairBatches other(options);
  again.seek({0, 0});
  EXPECT_NE(take(other, count), take(again, count));
}

TEST(Pairs, ThreadsChangeNothing) {
  const Corpus corpus(500);
  const int before = thread_count();
  std::vector<std::vector<std::vector<Index>>> runs;
  for (const int threads : {1, 3}) {
    set_thread_count(threads);
    PairBatches batches(corpus.options());
    runs.push_back(take(batches, 50));
  }
  set_thread_count(before);
  EXPECT_EQ(runs[0], runs[1]);
}

RC_GTEST_PROP(Pairs, SeekIsAsIfNeverStopped, ()) {
  static const Corpus corpus(120);
  PairOptions options = corpus.options();
  options.buffer = *rc::gen::element<Index>(10, 50, 119, 120, 121, 5000);
  options.seed = *rc::gen::inRange<std::uint64_t>(0, 1000);
  options.shuffle = *rc::gen::arbitrary<bool>();
  PairBatches whole(options);
  take(whole, *rc::gen::inRange<Index>(0, 120));
  const PairBatches::Position stopped = whole.position();

  PairBatches resumed(options);
  take(resumed, *rc::gen::inRange<Index>(0, 30));
  resumed.seek(stopped);
  RC_ASSERT(resumed.position() == stopped);
  for (int i = 0; i < 40; ++i) {
    RC_ASSERT(contents(whole.next()) == contents(resumed.next()));
    RC_ASSERT(whole.position() == resumed.position());
  }
}

TEST(Pairs, SeekingPastTheEpochIsAnError) {
  const Corpus corpus(20);
  PairBatches batches(corpus.options());
  EXPECT_NE(message_of([&] { batches.seek({0, 1000}); }).find("so none is number 1000"), std::string::npos);
}

TEST(Pairs, BadLinesAreCountedWithTheirPlaces) {
  const Corpus corpus;
  PairOptions options;
  options.source_files = {corpus.write("source", "a\n\n \nb \xff\nc c c c\nd\ne\r\nmore\nyet more")};
  options.target_files = {corpus.write("target", "a\nb\nc\nd\ne\n\ne\n")};
  options.source = options.target = train_words(options.target_files, {});
  options.longest = 3;
  PairBatches batches(options);
  const PairReport& report = batches.report();
  const std::string name = options.source_files[0];
  EXPECT_TRUE(report.complete);
  EXPECT_EQ(report.lines, 9);
  EXPECT_EQ(report.kept, 2);
  EXPECT_EQ(report.empty.first, (std::vector<std::string>{name + ":2", name + ":3", name + ":6"}));
  EXPECT_EQ(report.invalid_utf8.first, std::vector<std::string>{name + ":4"});
  EXPECT_EQ(report.too_long.first, std::vector<std::string>{name + ":5"});
  EXPECT_EQ(report.unpaired.first, (std::vector<std::string>{name + ":8", name + ":9"}));
  EXPECT_EQ(report.left_out(), 7);
  EXPECT_EQ(report.text(), "9 pairs of lines, 2 used\n  1 left out, not UTF-8: " + name +
                               ":4\n  3 left out, a side is empty: " + name + ":2, " + name + ":3, " + name +
                               ":6\n  1 left out, too long: " + name +
                               ":5\n  2 left out, the other file has fewer lines: " + name + ":8, " + name + ":9");
  PairBatch batch = batches.next();
  std::sort(batch.lines.begin(), batch.lines.end());
  EXPECT_EQ(batch.lines, (std::vector<Index>{0, 6}));
}

TEST(Pairs, ATsvWithOtherColumnsIsReported) {
  const Corpus corpus;
  PairOptions options;
  options.tsv = corpus.write("tsv", "a\tb\nno tab\na\tb\tc\nc\td\n");
  options.source = options.target = train_words({options.tsv}, {});
  PairBatches batches(options);
  EXPECT_EQ(batches.report().columns.first, (std::vector<std::string>{options.tsv + ":2", options.tsv + ":3"}));
  EXPECT_EQ(batches.report().kept, 2);
  PairBatch batch = batches.next();
  std::sort(batch.lines.begin(), batch.lines.end());
  EXPECT_EQ(batch.lines, (std::vector<Index>{0, 3}));
}

TEST(Pairs, SeveralFilesAreOneCorpus) {
  const Corpus corpus;
  PairOptions options;
  options.source_files = {corpus.write("s1", "a\nb\n"), corpus.write("s2", "c")};
  options.target_files = {corpus.write("t1", "a\nb"), corpus.write("t2", "c\n")};
  options.source = options.target = train_words(options.source_files, {});
  PairBatches batches(options);
  PairBatch batch = batches.next();
  ASSERT_EQ(batch.lines.size(), 3U);
  for (std::size_t row = 0; row < 3; ++row)
    EXPECT_EQ(batch.source.words.at({static_cast<Index>(row), 0}), batch.lines[row] + 3);
}

TEST(Pairs, LinksOfWordsBecomeLinksOfPieces) {
  const Corpus corpus;
  PairOptions options;
  options.tsv = corpus.write("tsv", "abab cd\tcdcd ab ba\ncd\tab\ncd ab\tab\n");
  options.alignments = corpus.write("links", "0-0 1-0 0-2\n0-9\n1-0\n");
  options.source = options.target = train_subwords({options.tsv}, {.size = 9, .kind = "bpe"});
  options.shuffle = false;
  options.batch_sentences = 1;
  PairBatches batches(options);
  EXPECT_EQ(batches.report().bad_alignment.first, std::vector<std::string>{options.tsv + ":2"});
  std::map<Index, PairBatch> by_line;
  while (batches.position().epoch == 0) {
    PairBatch batch = batches.next();
    by_line[batch.lines[0]] = batch;
  }
  ASSERT_EQ(by_line.size(), 3U);
  for (const auto& [line, batch] : by_line) {
    const Index n = batch.previous.longest(), m = batch.source.longest();
    ASSERT_EQ(batch.alignment.shape(), (Shape{1, n, m}));
    const auto words = [&](const Ids& ids, Index begin, Index count) {
      return options.source->word_of({ids.data() + begin, static_cast<std::size_t>(count)});
    };
    const std::vector<Index> source = words(batch.source.words, 0, m - 1), target = words(batch.expected, 0, n - 1);
    const auto linked = [line = line](Index s, Index t) {
      if (line == 0) return t == 0 || (t == 2 && s == 0);
      return line == 2 && s == 1 && t == 0;
    };
    for (Index t = 0; t < n; ++t) {
      Index count = 0;
      const auto is_linked = [&](Index s) {
        return t < n - 1 && s < m - 1 &&
               linked(source[static_cast<std::size_t>(s)], target[static_cast<std::size_t>(t)]);
      };
      for (Index s = 0; s < m; ++s) count += is_linked(s);
      for (Index s = 0; s < m; ++s)
        EXPECT_EQ(batch.alignment.at({0, t, s}), is_linked(s) ? Real{1} / static_cast<Real>(count) : Real{0});
    }
  }
  EXPECT_GT(by_line[0].source.longest(), 3);  // words are cut
}

TEST(Pairs, ImpossibleRequestsAreErrors) {
  const Corpus corpus(5);
  const auto message = [&](const auto& change) {
    PairOptions options = corpus.options();
    change(options);
    return message_of([&] { PairBatches batches(options); });
  };
  EXPECT_NE(message([](PairOptions& o) { o.source.reset(); }).find("no vocabulary for the source"), std::string::npos);
  EXPECT_NE(message([](PairOptions& o) { o.batch_tokens = 0; }).find("batches need a limit"), std::string::npos);
  EXPECT_NE(message([](PairOptions& o) { o.buffer = 0; }).find("a buffer of 0 pairs"), std::string::npos);
  EXPECT_NE(message([](PairOptions& o) { o.target_files.push_back("x"); }).find("1 source files do not pair with 2"),
            std::string::npos);
  EXPECT_NE(message([](PairOptions& o) { o.target_files = {"missing.de"}; }).find("missing.de: cannot open it"),
            std::string::npos);
  EXPECT_NE(message([](PairOptions& o) { o.tsv = "x"; }).find("not both"), std::string::npos);
  EXPECT_NE(message([&](PairOptions& o) {
              o.source_files = {corpus.write("blank", "\n\n")};
            }).find("no usable pair of sentences: 5 pairs of lines, 0 used"),
            std::string::npos);
}

}  // namespace
}  // namespace heed
