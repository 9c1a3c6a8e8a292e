#include "heed/data/sample_batches.h"

#include <gtest/gtest.h>
#include <atomic>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <set>

#include "heed/base/random.h"
#include "heed/base/threads.h"
#include "heed/data/subwords.h"
#include "heed/data/symbols.h"
#include "heed/data/text_file.h"
#include "heed/data/words.h"
#include "support/messages.h"
#include "support/temporary_folder.h"

namespace heed {
namespace {

using test::message_of;

using Words = std::shared_ptr<const Vocabulary>;

BatchOptions pairs_of(std::vector<std::string> files, const Words& source, const Words& target) {
  BatchOptions options;
  options.files.files = std::move(files);
  options.columns = {{"source"}, {"target", Kind::text, true}};
  options.encode = [source, target](const Sample& sample) {
    return EncodedSample{.inputs = {{.words = source->encode(sample.inputs[0].text)}},
                         .output = target->encode(sample.outputs[0])};
  };
  options.words_of = [source, target](const EncodedSample& sample) {
    return std::vector{source->word_of(sample.inputs[0].words), target->word_of(sample.output)};
  };
  return options;
}

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
  BatchOptions options() const {
    const std::string source = (folder_.path() / "source").string(), target = (folder_.path() / "target").string();
    BatchOptions options = pairs_of({source, target}, train_words({{source}}, {}), train_words({{target}}, {}));
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
std::vector<Index> contents(const SampleBatch& batch) {
  std::vector<Index> all(batch.numbers);
  for (const Ids* ids : {&batch.inputs[0].words, &batch.inputs[0].lengths, &batch.previous.words,
                         &batch.previous.lengths, &batch.expected})
    all.insert(all.end(), ids->values().begin(), ids->values().end());
  return all;
}

std::vector<std::vector<Index>> take(SampleBatches& batches, Index count) {
  std::vector<std::vector<Index>> all;
  for (Index i = 0; i < count; ++i) all.push_back(contents(batches.next()));
  return all;
}

// The texts of one column of a table of pairs.
TrainingText column_of(const std::string& tsv, const std::string& name) {
  SampleFiles files;
  files.files = {tsv};
  return {files, {{"source", Kind::text, false}, {"target", Kind::text, true}}, {name}};
}

TEST(SampleBatches, ABatchIsShiftedAndPadded) {
  const Corpus corpus;
  const std::string tsv = corpus.write("tsv", "a b\tx y z\nc\tx\n");
  BatchOptions options = pairs_of({tsv}, train_words(column_of(tsv, "source"), {}),  // a 3, b 4, c 5
                                  train_words(column_of(tsv, "target"), {}));        // x 3, y 4, z 5
  options.shuffle = false;
  const SampleBatch batch = SampleBatches(options).next();
  const auto row = [](const Ids& ids) { return std::vector<std::int32_t>(ids.values().begin(), ids.values().end()); };
  EXPECT_EQ(batch.numbers, (std::vector<Index>{1, 0}));  // the shorter first
  EXPECT_EQ(batch.inputs[0].words.shape(), (Shape{2, 3}));
  EXPECT_EQ(row(batch.inputs[0].lengths), (std::vector<std::int32_t>{2, 3}));
  EXPECT_EQ(row(batch.inputs[0].words), (std::vector<std::int32_t>{5, kEnd, kEnd, 3, 4, kEnd}));
  EXPECT_EQ(row(batch.previous.lengths), (std::vector<std::int32_t>{2, 4}));
  EXPECT_EQ(row(batch.previous.words), (std::vector<std::int32_t>{kBegin, 3, kEnd, kEnd, kBegin, 3, 4, 5}));
  EXPECT_EQ(row(batch.expected), (std::vector<std::int32_t>{3, kEnd, -1, -1, 3, 4, 5, kEnd}));
  EXPECT_EQ(batch.words, 6);
  EXPECT_FALSE(batch.alignment);
}

TEST(SampleBatches, EveryPairComesOnceAnEpochWithinTheLimits) {
  const Corpus corpus(301);
  for (const Index buffer : {1, 7, 100, 301, 1000})
    for (const Index sentences : {0, 3}) {
      BatchOptions options = corpus.options();
      options.buffer = buffer;
      options.batch_samples = sentences;
      SampleBatches batches(options);
      for (Index epoch = 0; epoch < 3; ++epoch) {
        std::vector<Index> seen;
        while (batches.position().epoch == epoch) {
          const SampleBatch batch = batches.next();
          EXPECT_LE(batch.inputs[0].batch() * std::max(batch.inputs[0].longest(), batch.previous.longest()), 64);
          EXPECT_LE(batch.inputs[0].batch(), sentences > 0 ? sentences : 64);
          seen.insert(seen.end(), batch.numbers.begin(), batch.numbers.end());
        }
        std::sort(seen.begin(), seen.end());
        ASSERT_EQ(seen.size(), 301U) << "buffer " << buffer;
        for (Index line = 0; line < 301; ++line) EXPECT_EQ(seen[static_cast<std::size_t>(line)], line);
      }
      EXPECT_TRUE(batches.report().complete);
      EXPECT_EQ(batches.report().read, 301);
      EXPECT_EQ(batches.report().kept, 301);
    }
}

TEST(SampleBatches, EpochsAndSeedsDifferAndRunsAgree) {
  const Corpus corpus(200);
  BatchOptions options = corpus.options();
  SampleBatches first(options), again(options);
  Index count = 0;
  for (; first.position().epoch == 0; ++count) EXPECT_EQ(contents(first.next()), contents(again.next()));
  again.seek({0, 0});
  EXPECT_NE(take(first, count), take(again, count));  // epoch 1 against epoch 0
  options.seed = 2;
  SampleBatches other(options);
  again.seek({0, 0});
  EXPECT_NE(take(other, count), take(again, count));
}

TEST(SampleBatches, SamplesComeAsTheirBatchesDo) {
  const Corpus corpus(100);
  SampleBatches batches(corpus.options()), samples(corpus.options());
  while (batches.position().epoch < 2) {
    EXPECT_EQ(contents(batches.next()), contents(batch_of(samples.next_samples(), false)));
    EXPECT_EQ(batches.position(), samples.position());
  }
}

TEST(SampleBatches, ThreadsChangeNothing) {
  const Corpus corpus(500);
  const int before = thread_count();
  std::vector<std::vector<std::vector<Index>>> runs;
  for (const int threads : {1, 3}) {
    set_thread_count(threads);
    SampleBatches batches(corpus.options());
    runs.push_back(take(batches, 50));
  }
  set_thread_count(before);
  EXPECT_EQ(runs[0], runs[1]);
}

RC_GTEST_PROP(SampleBatches, SeekIsAsIfNeverStopped, ()) {
  static const Corpus corpus(120);
  BatchOptions options = corpus.options();
  options.buffer = *rc::gen::element<Index>(10, 50, 119, 120, 121, 5000);
  options.seed = *rc::gen::inRange<std::uint64_t>(0, 1000);
  options.shuffle = *rc::gen::arbitrary<bool>();
  SampleBatches whole(options);
  take(whole, *rc::gen::inRange<Index>(0, 120));
  const SampleBatches::Position stopped = whole.position();

  SampleBatches resumed(options);
  take(resumed, *rc::gen::inRange<Index>(0, 30));
  resumed.seek(stopped);
  RC_ASSERT(resumed.position() == stopped);
  for (int i = 0; i < 40; ++i) {
    RC_ASSERT(contents(whole.next()) == contents(resumed.next()));
    RC_ASSERT(whole.position() == resumed.position());
  }
}

TEST(SampleBatches, SeekingPastTheEpochIsAnError) {
  const Corpus corpus(20);
  SampleBatches batches(corpus.options());
  EXPECT_NE(message_of([&] { batches.seek({0, 1000}); }).find("so none is number 1000"), std::string::npos);
}

TEST(SampleBatches, BadLinesAreCountedWithTheirPlaces) {
  const Corpus corpus;
  const std::string name = corpus.write("source", "a\n\n \nb \xff\nc c c c\nd\ne\r\nmore\nyet more");
  const std::string target = corpus.write("target", "a\nb\nc\nd\ne\n\ne\n");
  const Words words = train_words({{target}}, {});
  BatchOptions options = pairs_of({name, target}, words, words);
  options.longest = 3;
  options.files.allow_bad_lines = true;
  SampleBatches batches(options);
  const SampleReport& report = batches.report();
  EXPECT_TRUE(report.complete);
  EXPECT_EQ(report.read, 9);
  EXPECT_EQ(report.kept, 2);
  EXPECT_EQ(report.left_out(), 7);
  EXPECT_EQ(report.text(), "9 samples, 2 used\n  3 left out, a side is empty: " + name + ":2, " + name + ":3, " + name +
                               ":6\n  1 left out, not UTF-8: " + name +
                               ":4\n  2 left out, the other file has fewer lines: " + name + ":8, " + name +
                               ":9\n  1 left out, too long: " + name + ":5");
  SampleBatch batch = batches.next();
  std::sort(batch.numbers.begin(), batch.numbers.end());
  EXPECT_EQ(batch.numbers, (std::vector<Index>{0, 6}));
}

// Whoever wants the samples themselves reads no file again.
TEST(SampleBatches, EverySampleIsToldOnceInTheOrderOfTheFiles) {
  const Corpus corpus(200);
  BatchOptions options = corpus.options();
  options.buffer = 30;
  options.longest = 8;  // some are left out
  std::vector<std::string> told;
  options.on_sample = [&](const Sample& sample) { told.push_back(sample.inputs[0].text); };
  const std::vector<std::string> files = options.files.files;
  SampleBatches batches(std::move(options));
  std::size_t given = 0;
  while (batches.position().epoch == 0) given += batches.next().numbers.size();
  EXPECT_LT(given, 200U);
  EXPECT_EQ(told, LineReader(files[0]).rest());
}

TEST(SampleBatches, SeveralFilesAreOneCorpus) {
  const Corpus corpus;
  const std::string first = corpus.write("s1", "a\nb\n"), second = corpus.write("s2", "c");
  const Words words = train_words({{first, second}}, {});
  SampleBatches batches(pairs_of({first, corpus.write("t1", "a\nb"), second, corpus.write("t2", "c\n")}, words, words));
  SampleBatch batch = batches.next();
  ASSERT_EQ(batch.numbers.size(), 3U);
  for (std::size_t row = 0; row < 3; ++row)
    EXPECT_EQ(batch.inputs[0].words.at({static_cast<Index>(row), 0}), batch.numbers[row] + 3);
}

TEST(SampleBatches, LinksOfWordsBecomeLinksOfPieces) {
  const Corpus corpus;
  const std::string tsv = corpus.write("tsv", "abab cd\tcdcd ab ba\ncd\tab\ncd ab\tab\n");
  const Words pieces = train_subwords({{tsv}}, {.size = 9, .kind = "bpe"});
  BatchOptions options = pairs_of({tsv}, pieces, pieces);
  options.files.alignments = {corpus.write("links", "0-0 1-0 0-2\n0-9\n1-0\n")};
  options.shuffle = false;
  options.batch_samples = 1;
  SampleBatches batches(options);
  EXPECT_EQ(batches.report().text(),
            "3 samples, 3 used\n  1 used without their alignment, which does not fit: " + tsv + ":2");
  std::map<Index, SampleBatch> by_line;
  while (batches.position().epoch == 0) {
    SampleBatch batch = batches.next();
    by_line[batch.numbers[0]] = batch;
  }
  ASSERT_EQ(by_line.size(), 3U);
  for (const auto& [line, batch] : by_line) {
    const Index n = batch.previous.longest(), m = batch.inputs[0].longest();
    ASSERT_EQ(batch.alignment.shape(), (Shape{1, n, m}));
    const auto words = [&](const Ids& ids, Index begin, Index count) {
      return pieces->word_of({ids.data() + begin, static_cast<std::size_t>(count)});
    };
    const std::vector<Index> source = words(batch.inputs[0].words, 0, m - 1), target = words(batch.expected, 0, n - 1);
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
  EXPECT_GT(by_line[0].inputs[0].longest(), 3);  // words are cut
}

TEST(SampleBatches, ImpossibleRequestsAreErrors) {
  const Corpus corpus(5);
  const auto message = [&](const auto& change) {
    BatchOptions options = corpus.options();
    change(options);
    return message_of([&] { SampleBatches batches(options); });
  };
  const auto says = [&](const auto& change, std::string_view words) {
    const std::string text = message(change);
    EXPECT_NE(text.find(words), std::string::npos) << text;
  };
  says([](BatchOptions& o) { o.encode = nullptr; }, "nothing makes numbers");
  says([](BatchOptions& o) { o.batch_tokens = 0; }, "batches need a limit");
  says([](BatchOptions& o) { o.batch_tokens = 1; }, "no room for a word");
  says([](BatchOptions& o) { o.buffer = 0; }, "a buffer of 0 samples");
  says([](BatchOptions& o) { o.files.files.push_back("x"); }, "x: cannot open it");
  says([](BatchOptions& o) { o.files.files[1] = "missing.de"; }, "missing.de: cannot open it");
  says([](BatchOptions& o) { o.files.alignments = {"links"}, o.words_of = nullptr; }, "word links need");
  says([](BatchOptions& o) { o.encode = [](const Sample&) -> EncodedSample { fail("not this one"); }; },
       "not this one");
  says([&](BatchOptions& o) { o.files.files[0] = corpus.write("blank", "\n\n"), o.files.allow_bad_lines = true; },
       "there is no usable sample: 5 samples, 0 used");
}

// Trained models depend on the order in which pairs come: it was recorded before samples had several inputs.
TEST(SampleBatches, PairsComeInTheRecordedOrder) {
  struct Recorded {
    std::uint64_t seed;
    Index buffer, samples;
    bool shuffle;
    Index batches;
    std::uint64_t hash;  // FNV-1a of the contents of three epochs
  };
  const Corpus corpus(301);
  for (const Recorded& recorded : std::initializer_list<Recorded>{
           {1, 100, 0, true, 174, 0xfe3b6e77684e9641},
           {1, 100, 0, false, 174, 0xb261a257d0a756e7},
           {1, 100, 3, true, 309, 0x93dad755eac7358a},
           {1, 301, 0, true, 144, 0xec179d7586f88d22},
           {1, 5000, 0, false, 144, 0x4dafd265ef091802},
           {1, 5000, 3, true, 303, 0x41abd12d9b4a224c},
           {1, 5000, 3, false, 303, 0xa371171bb437d9e2},
           {7, 100, 0, true, 174, 0x7bf74988a73e69a7},
           {7, 100, 3, true, 309, 0x1c7fbafa1d48a166},
           {7, 301, 3, true, 303, 0xe678927530eff720},
           {7, 5000, 0, true, 144, 0x6e64dda8a8c94a06},
       }) {
    BatchOptions options = corpus.options();
    options.seed = recorded.seed;
    options.buffer = recorded.buffer;
    options.batch_samples = recorded.samples;
    options.shuffle = recorded.shuffle;
    SampleBatches batches(options);
    std::uint64_t hash = 14695981039346656037ULL;
    Index count = 0;
    for (; batches.position().epoch < 3; ++count)
      for (const Index number : contents(batches.next()))
        hash = (hash ^ static_cast<std::uint64_t>(number)) * 1099511628211ULL;
    EXPECT_EQ(count, recorded.batches) << recorded.hash;
    EXPECT_EQ(hash, recorded.hash);
  }
  BatchOptions options = corpus.options();
  options.batch_samples = 3;
  SampleBatches batches(options);
  for (const std::vector<Index>& numbers :
       std::vector<std::vector<Index>>{{11, 170, 193}, {72, 200, 195}, {239, 279, 135}, {70, 88, 25}, {300, 293, 22}})
    EXPECT_EQ(batches.next().numbers, numbers);
}

// Two texts and a label: as many words as the text says.
EncodedSample counted(const Sample& sample) {
  EncodedSample result;
  for (const Value& input : sample.inputs)
    result.inputs.push_back({.words = std::vector<std::int32_t>(std::stoul(input.text), 5)});
  result.output = {static_cast<std::int32_t>(std::stoul(sample.outputs[0]))};
  return result;
}

TEST(SampleBatches, LabelsAreSortedByTheirInputs) {
  const Corpus corpus;
  BatchOptions options;
  options.files.files = {corpus.write("claims.tsv", "2\t9\t1\n1\t3\t0\n2\t1\t0\n1\t2\t1\n3\t1\t-\n1\t2\t0\n")};
  options.columns = {{"premise"}, {"claim"}, {.name = "label", .kind = Kind::label, .output = true, .unlabelled = "-"}};
  options.gives_label = true;
  options.encode = counted;
  options.shuffle = false;
  options.batch_tokens = 16;  // the long claim of the first sample needs 10
  SampleBatches batches(options);
  EXPECT_EQ(batches.report().text(),
            "6 samples, 5 used\n  1 left out, without a label: " + options.files.files[0] + ":5");
  const SampleBatch first = batches.next(), second = batches.next();
  EXPECT_EQ(batches.position(), (SampleBatches::Position{1, 0}));
  EXPECT_EQ(first.numbers, (std::vector<Index>{3, 5, 1, 2}));  // (1, 2), (1, 2), (1, 3), (2, 1)
  EXPECT_EQ(second.numbers, std::vector<Index>{0});
  ASSERT_EQ(first.inputs.size(), 2U);
  EXPECT_EQ(first.inputs[0].words.shape(), (Shape{4, 3}));
  EXPECT_EQ(first.inputs[1].words.shape(), (Shape{4, 4}));
  EXPECT_EQ(first.expected.shape(), Shape{4});
  EXPECT_EQ(first.expected.at({0}), 1);
  EXPECT_EQ(first.expected.at({1}), 0);
  EXPECT_EQ(first.words, 4);
  EXPECT_FALSE(first.previous.words);
  EXPECT_EQ(second.inputs[1].longest(), 10);
}

TEST(SampleBatches, LongInputsAreCutWhereThatIsAsked) {
  const Corpus corpus;
  BatchOptions options;
  options.files.files = {corpus.write("claims.tsv", "2\t9\t1\n1\t3\t0\n")};
  options.columns = {{"premise"}, {"claim"}, {"label", Kind::label, true}};
  options.gives_label = true;
  options.encode = counted;
  options.shuffle = false;
  options.longest = 4;
  const std::string place = options.files.files[0] + ":1";
  EXPECT_EQ(SampleBatches(options).report().text(), "2 samples, 1 used\n  1 left out, too long: " + place);
  options.cut_inputs = true;
  SampleBatches batches(options);
  EXPECT_EQ(batches.report().text(), "2 samples, 2 used\n  1 used, an input cut as too long: " + place);
  const SampleBatch batch = batches.next();
  EXPECT_EQ(batch.numbers, (std::vector<Index>{1, 0}));
  EXPECT_EQ(batch.inputs[0].lengths.at({1}), 3);
  EXPECT_EQ(batch.inputs[1].lengths.at({0}), 4);
  EXPECT_EQ(batch.inputs[1].lengths.at({1}), 5);
  EXPECT_EQ(batch.inputs[1].words.at({1, 4}), kEnd);
}

TEST(CutInput, ASentenceThatGoesOnEndsAtTheCut) {
  const auto ends_of = [](std::vector<std::int32_t> ends, Index longest) {
    EncodedInput input{.words = {3, 4, 5, 6, 7, 8, 9}, .ends = std::move(ends)};
    EXPECT_EQ(cut_input(input, longest), longest < 7);
    EXPECT_EQ(input.length(), std::min<Index>(longest, 7));
    return input.ends;
  };
  using Ends = std::vector<std::int32_t>;
  EXPECT_EQ(ends_of({2, 4, 7}, 3), (Ends{2, 3}));
  EXPECT_EQ(ends_of({2, 4, 7}, 4), (Ends{2, 4}));
  EXPECT_EQ(ends_of({6, 7}, 3), (Ends{3}));  // the first sentence is longer than the limit
  EXPECT_EQ(ends_of({7}, 1), (Ends{1}));
  EXPECT_EQ(ends_of({2, 4, 7}, 7), (Ends{2, 4, 7}));
  EXPECT_EQ(ends_of({}, 3), Ends{});  // no document
}

TEST(SampleBatches, CuttingADocumentAndFeaturesKeepsWhatIsInFront) {
  const Corpus corpus;
  BatchOptions options;
  options.files.files = {corpus.write("a", "text\n"), corpus.write("b", "0\n")};
  options.columns = {{"document", Kind::document}, {"label", Kind::label, true}};
  options.gives_label = true;
  options.longest = 5;
  options.cut_inputs = true;
  options.encode = [](const Sample&) {
    return EncodedSample{.inputs = {{.words = {3, 4, 5, 6, 7, 8, 9}, .ends = {2, 4, 6, 7}},
                                    {.features = Tensor(Shape{6, 2}, {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11})}},
                         .output = {0}};
  };
  const SampleBatch batch = SampleBatches(options).next();
  const auto ends = batch.inputs[0].ends.values();
  EXPECT_EQ(std::vector<std::int32_t>(ends.begin(), ends.end()), (std::vector<std::int32_t>{2, 4, 5}));
  EXPECT_EQ(batch.inputs[0].longest(), 6);  // with the end
  EXPECT_EQ(batch.inputs[1].features.shape(), (Shape{1, 5, 2}));
  EXPECT_EQ(batch.inputs[1].features.at({0, 4, 1}), Real{9});
}

// Words that only one text has: the model reads the unknown word and is to write them, where they were not cut off.
TEST(SampleBatches, CopiedWordsHaveIdsOfTheirOwn) {
  const Corpus corpus;
  const auto vocabulary = words_from("<unk>\n<s>\n</s>\nthe\n", "test", WordCutting::white_space);
  const auto sample = [&vocabulary](const std::string& text, const std::string& output) {
    EncodedSample result{.inputs = {{.words = vocabulary->encode(text)}}};
    EncodedInput& input = result.inputs.front();
    input.extended = extended_by(vocabulary, text);
    input.copies = input.extended->encode(text), input.known = vocabulary->size();
    result.output = input.extended->encode(output);
    return result;
  };
  const auto row = [](const Ids& ids) { return std::vector<std::int32_t>(ids.values().begin(), ids.values().end()); };
  const std::vector<EncodedSample> samples{sample("the Ann met Bob", "Bob the Eve"), sample("the Cid", "Cid")};
  const SampleBatch batch = batch_of(samples, false);
  EXPECT_EQ(row(batch.inputs[0].words), (std::vector<std::int32_t>{3, 0, 0, 0, kEnd, 3, 0, kEnd, kEnd, kEnd}));
  EXPECT_EQ(row(batch.inputs[0].copies), (std::vector<std::int32_t>{3, 4, 5, 6, kEnd, 3, 4, kEnd, kEnd, kEnd}));
  EXPECT_EQ(batch.inputs[0].known, 4);
  EXPECT_EQ(batch.inputs[0].extended, 7);
  EXPECT_EQ(row(batch.previous.words), (std::vector<std::int32_t>{kBegin, 0, 3, 0, kBegin, 0, kEnd, kEnd}));
  EXPECT_EQ(row(batch.expected), (std::vector<std::int32_t>{6, 3, 0, kEnd, 4, kEnd, -1, -1}));

  BatchOptions options;
  options.files.files = {corpus.write("a", "text\n"), corpus.write("b", "text\n")};
  options.columns = {{"text"}, {"summary"}};
  options.longest = 3;
  options.cut_inputs = true;
  options.encode = [&](const Sample&) { return sample("the Ann met Bob", "Ann Bob"); };
  EXPECT_EQ(row(SampleBatches(options).next().expected), (std::vector<std::int32_t>{4, kUnknown, kEnd}));
}

TEST(SampleBatches, ABatchOfGivenSamplesIsPaddedInTheirOrder) {
  const std::vector<EncodedSample> samples = {
      {.inputs = {{.words = {7, 8, 9}, .ends = {1, 3}}, {.features = Tensor(Shape{1, 2}, {1, 2})}}, .number = 4},
      {.inputs = {{.words = {}}, {.features = Tensor(Shape{2, 2}, {3, 4, 5, 6})}}, .output = {6}, .number = 2}};
  const auto row = [](const Ids& ids) { return std::vector<std::int32_t>(ids.values().begin(), ids.values().end()); };
  const SampleBatch written = batch_of(samples, false), chosen = batch_of(samples, true);
  EXPECT_EQ(written.numbers, (std::vector<Index>{4, 2}));
  EXPECT_EQ(row(written.inputs[0].words), (std::vector<std::int32_t>{7, 8, 9, kEnd, kEnd, kEnd, kEnd, kEnd}));
  EXPECT_EQ(row(written.inputs[0].lengths), (std::vector<std::int32_t>{4, 1}));
  EXPECT_EQ(row(written.inputs[0].ends), (std::vector<std::int32_t>{1, 3, 0, 0}));
  EXPECT_EQ(row(written.inputs[1].lengths), (std::vector<std::int32_t>{1, 2}));
  const auto features = written.inputs[1].features.values();
  EXPECT_EQ(std::vector<Real>(features.begin(), features.end()), (std::vector<Real>{1, 2, 0, 0, 3, 4, 5, 6}));
  EXPECT_FALSE(written.inputs[1].words);
  EXPECT_EQ(row(written.previous.words), (std::vector<std::int32_t>{kBegin, kEnd, kBegin, 6}));
  EXPECT_EQ(row(written.expected), (std::vector<std::int32_t>{kEnd, -1, 6, kEnd}));
  EXPECT_EQ(written.words, 3);
  EXPECT_EQ(row(chosen.expected), (std::vector<std::int32_t>{-1, 6}));  // of the first nothing is known
  EXPECT_EQ(chosen.words, 1);
  EXPECT_NE(message_of([] { batch_of({}, true); }).find("no sample"), std::string::npos);
  std::vector<EncodedSample> uneven = samples;
  uneven[1].inputs[1].features = Tensor(Shape{1, 3}, Real{0});
  EXPECT_NE(message_of([&] { batch_of(uneven, true); }).find("input 1 of sample 2"), std::string::npos);
}

TEST(SampleBatches, FeaturesMayBeMadeByEachBatch) {
  std::atomic<int> made{0};  // by several threads
  const auto late = [&made](Index length) {
    return std::make_shared<const LateFeatures>(LateFeatures{length, 2, [&made, length] {
                                                               ++made;
                                                               return Tensor(Shape{length, 2}, Real{3});
                                                             }});
  };
  std::vector<EncodedSample> samples = {{.inputs = {{.late = late(1)}}, .output = {5}, .number = 1},
                                        {.inputs = {{.late = late(2)}}, .output = {6}, .number = 2}};
  EXPECT_EQ(samples[1].inputs[0].length_in_batch(), 2);
  for (const int times : {2, 4}) {
    const auto features = batch_of(samples, false).inputs[0].features.values();
    EXPECT_EQ(std::vector<Real>(features.begin(), features.end()), (std::vector<Real>{3, 3, 0, 0, 3, 3, 3, 3}));
    EXPECT_EQ(made, times);
  }
  samples[0].inputs[0].late = std::make_shared<const LateFeatures>(LateFeatures{1, 2, [] {
                                                                                  fail("the file is gone");
                                                                                  return Tensor();
                                                                                }});
  EXPECT_EQ(message_of([&] { batch_of(samples, false); }), "the file is gone");
}

TEST(SampleBatches, EveryReferenceIsASample) {
  const Corpus corpus;
  const std::string file = corpus.write("pairs.jsonl", R"({"source": "a b", "target": ["x", "y z", "a b c d e f"]})"
                                                       "\n"
                                                       R"({"source": "c", "target": "x y"})"
                                                       "\n");
  const Words words = train_words({{corpus.write("text", "a b c d e f x y z\n")}}, {});
  BatchOptions options = pairs_of({file}, words, words);
  options.encode = [words](const Sample& sample) {
    EncodedSample encoded{.inputs = {{.words = words->encode(sample.inputs[0].text)}},
                          .output = words->encode(sample.outputs[0])};
    for (std::size_t i = 1; i < sample.outputs.size(); ++i)
      encoded.other_outputs.push_back(words->encode(sample.outputs[i]));
    return encoded;
  };
  options.longest = 4;
  options.batch_samples = 1;
  options.shuffle = false;
  Index told = 0;
  options.on_sample = [&told](const Sample&) { ++told; };
  SampleBatches batches(options);
  std::multiset<std::pair<Index, std::vector<std::int32_t>>> seen;
  while (batches.position().epoch == 0) {
    const SampleBatch batch = batches.next();
    const auto expected = batch.expected.values();
    seen.insert({batch.numbers.at(0), {expected.begin(), expected.end()}});
  }
  const auto ended = [&words](const char* text) {
    std::vector<std::int32_t> ids = words->encode(text);
    ids.push_back(kEnd);
    return ids;
  };
  EXPECT_EQ(seen, (std::multiset<std::pair<Index, std::vector<std::int32_t>>>{
                      {0, ended("x")}, {0, ended("y z")}, {1, ended("x y")}}));
  EXPECT_EQ(told, 2);
  EXPECT_EQ(batches.report().kept, 2);
  EXPECT_EQ(batches.report().text(),
            "2 samples, 2 used\n  1 used without a reference that is empty or too long: " + file + ":1");
}

}  // namespace
}  // namespace heed
