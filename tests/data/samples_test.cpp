#include "heed/data/samples.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>
#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "heed/base/error.h"
#include "heed/data/sample_files.h"
#include "support/messages.h"
#include "support/temporary_folder.h"

namespace heed {
namespace {

using test::message_of;
using Lines = std::vector<std::string>;

const std::vector<SampleColumn> kPair = {{"source"}, {"target", Kind::text, true}};
const std::vector<SampleColumn> kLabelled = {{"text"}, {"label", Kind::label, true, {}, "-"}};
const std::vector<SampleColumn> kInference = {{"label", Kind::label, true, {"gold_label"}, "-"},
                                              {"premise", Kind::text, false, {"sentence1"}},
                                              {"hypothesis", Kind::text, false, {"sentence2"}}};

class SamplesTest : public testing::Test {
 protected:
  std::string path(const std::string& name) const { return (folder_.path() / name).string(); }
  std::string write(const std::string& name, std::string_view bytes) const {
    std::filesystem::create_directories(std::filesystem::path(path(name)).parent_path());
    std::ofstream(path(name), std::ios::binary) << bytes;
    return path(name);
  }
  // All samples of one file, and what was wrong with others, without the folder.
  Lines read(const std::string& name, std::string_view bytes, const std::vector<SampleColumn>& columns,
             const std::string& format = "", const Lines& given = {}) {
    Samples samples({.files = {write(name, bytes)}, .format = format, .columns = given, .allow_bad_lines = true},
                    columns);
    Lines all = rest_of(samples);
    report_ = report_of(samples);
    return all;
  }
  // "number:line input | input => output | output" of each.
  static Lines rest_of(Samples& samples) {
    Lines all;
    for (Sample sample; samples.next(sample);) {
      Lines inputs;
      for (const Value& input : sample.inputs) inputs.push_back(input.text);
      all.push_back(fmt::format("{}:{} {} => {}", samples.number(), samples.place().line, fmt::join(inputs, " | "),
                                fmt::join(sample.outputs, " | ")));
    }
    return all;
  }
  std::string report_of(Samples& samples) const {
    std::string text = samples.report().text();
    const std::string folder = folder_.path().string() + "/";
    for (std::size_t at; (at = text.find(folder)) != std::string::npos;) text.erase(at, folder.size());
    return text;
  }
  void expect_message(std::string_view words, const SampleFiles& files,
                      const std::vector<SampleColumn>& columns) const {
    const std::string text = message_of([&] {
      Samples samples(files, columns);
      for (Sample sample; samples.next(sample);) continue;
    });
    EXPECT_NE(text.find(words), std::string::npos) << text;
  }
  std::string report_;

 private:
  TemporaryFolder folder_;
};

TEST_F(SamplesTest, LinesOfParallelFilesBelongTogether) {
  const std::vector<SampleColumn> columns = {{"premise"}, {"claim"}, {"label", Kind::label, true}};
  Samples samples(
      {.files = {write("a.premise", "p1\r\np2\n"), write("a.claim", "c1\nc2\nc3\n"), write("a.label", "x\ny"),
                 write("b.premise", "\xef\xbb\xbfp4"), write("b.claim", "c4\n"), write("b.label", " z \n")},
       .allow_bad_lines = true},
      columns);
  EXPECT_EQ(rest_of(samples), (Lines{"0:1 p1 | c1 => x", "1:2 p2 | c2 => y", "3:1 p4 | c4 => z"}));
  EXPECT_EQ(report_of(samples), "4 samples, 3 used\n  1 left out, the other file has fewer lines: a.claim:3");
  EXPECT_TRUE(samples.report().complete);
  EXPECT_EQ(samples.report().left_out(), 1);
}

TEST_F(SamplesTest, NamesGiveTheOrderOfParallelFiles) {
  Samples samples({.files = {write("a.de", "gut\n"), write("a.id", "17\n"), write("a.en", "good\n")},
                   .format = "lines",
                   .columns = {"target", "-", "SOURCE"}},
                  kPair);
  EXPECT_EQ(rest_of(samples), Lines{"0:1 good => gut"});
}

TEST_F(SamplesTest, BadCellsAreCountedInTheOrderOfTheirFirstOccurrence) {
  EXPECT_EQ(read("x.tsv", "a\tb\n\tb\na\t \nonly\na\tb\tc\n\xff\tb\na\t\xc3\nc\td\r\n", kPair),
            (Lines{"0:1 a => b", "7:8 c => d"}));
  EXPECT_EQ(report_,
            "8 samples, 2 used\n  2 left out, a side is empty: x.tsv:2, x.tsv:3\n  2 left out, not 2 columns: "
            "x.tsv:4, x.tsv:5\n  2 left out, not UTF-8: x.tsv:6, x.tsv:7");
  EXPECT_EQ(read("y.tsv", "\n\n\n\n\n\n\n", kPair), Lines{});
  EXPECT_EQ(report_, "7 samples, 0 used\n  7 left out, not 2 columns: y.tsv:1, y.tsv:2, y.tsv:3, y.tsv:4, y.tsv:5 ...");
}

TEST_F(SamplesTest, FilesOfUnequalLengthAreAnErrorUnlessAllowed) {
  SampleFiles files{.files = {write("a.en", "a\nb\nc\n"), write("a.de", "x\ny\n")}, .format = "lines"};
  expect_message("a.en:3: the file beside it has fewer lines; 1 of 3 have no partner (--allow-bad-lines", files, kPair);
  files.allow_bad_lines = true;
  Samples samples(files, kPair);
  EXPECT_EQ(rest_of(samples).size(), 2u);
}

TEST_F(SamplesTest, ManyBadLinesAreAnErrorUnlessAllowed) {
  const auto table = [&](int good, int bad) {
    std::string bytes;
    for (int i = 0; i < bad; ++i) bytes += "only\n";
    for (int i = 0; i < good; ++i) bytes += "a\tb\n";
    return SampleFiles{.files = {write("x.tsv", bytes)}};
  };
  expect_message("6 of 100 samples cannot be used (--allow-bad-lines goes on without them): 100 samples, 94 used",
                 table(94, 6), kPair);
  expect_message("2 of 3 samples cannot be used", table(1, 2), kPair);
  for (const SampleFiles& files : {table(95, 5), table(1, 1)}) {
    Samples samples(files, kPair);
    EXPECT_FALSE(rest_of(samples).empty());
  }
  // What nobody labelled is no fault.
  Samples labels({.files = {write("l.tsv", "a\t-\nb\t-\nc\tx\n")}}, kLabelled);
  EXPECT_EQ(rest_of(labels), Lines{"2:3 c => x"});
  // A large file is not read to its end before this is said.
  SampleFiles large = table(0, 100'000);
  large.files.push_back(path("never-read.tsv"));
  write("never-read.tsv", "a\tb\n");
  expect_message("99999 of 100000 samples cannot be used", large, kPair);
}

TEST_F(SamplesTest, Utf16IsNotText) {
  const std::string bytes(
      "\xff\xfe"
      "a\0\t\0b\0\n\0c\0\t\0d\0\n\0",
      18);
  expect_message("3 of 3 samples cannot be used", {.files = {write("x.tsv", bytes)}}, kPair);
  EXPECT_EQ(read("y.tsv", bytes, kPair), Lines{});
  EXPECT_NE(report_.find("left out, a zero byte in it, as UTF-16 has: y.tsv:1"), std::string::npos) << report_;
}

TEST_F(SamplesTest, AHeaderNamesTheColumnsOfATable) {
  const Lines swapped = {"0:2 a => b"};
  EXPECT_EQ(read("x.tsv", "Target\tSOURCE\nb\ta\n", kPair), swapped);
  EXPECT_EQ(read("x.csv", "id,target,\"source\"\n1,b,a\n", kPair), swapped);
  EXPECT_EQ(read("x.tsv", "b\ta\n", kPair, "", {"target", "source"}), Lines{"0:1 a => b"});
  EXPECT_EQ(read("x.tsv", "1\tb\ta\t\n", kPair, "", {"-", "target", "source", ""}), Lines{"0:1 a => b"});
  EXPECT_EQ(read("x.tsv", "id\ttarget\tsource\n1\tb\ta\n", kPair, "", {"-", "target", "source"}), swapped);
  EXPECT_EQ(read("x.tsv", "source\tsource\n", kPair), Lines{"0:1 source => source"});  // words, not names
  EXPECT_EQ(read("x.tsv", "source\ttarget\n", kPair), Lines{});
  EXPECT_EQ(report_, "0 samples, 0 used");
  const auto file = [&](std::string_view bytes, Lines given) {
    return SampleFiles{.files = {write("y.tsv", bytes)}, .columns = std::move(given)};
  };
  expect_message("y.tsv: its header, target, is without the column source", file("target\n", {}), kPair);
  expect_message("y.tsv: its header, target, source, contradicts the names",
                 file("target\tsource\n", {"source", "target"}), kPair);
}

TEST_F(SamplesTest, EachTableHasAHeaderOfItsOwn) {
  Samples samples({.files = {write("a.tsv", "source\ttarget\na\tb\n"), write("b.tsv", "c\td\n"),
                             write("c.tsv", "target\tsource\nf\te\n")}},
                  kPair);
  EXPECT_EQ(rest_of(samples), (Lines{"0:2 a => b", "1:1 c => d", "2:2 e => f"}));
}

TEST_F(SamplesTest, QuotesOfACsvHoldWhatSeparates) {
  EXPECT_EQ(read("x.csv", "\"a, b\",c\r\n\"say \"\"yes\"\"\",\"one\r\ntwo\"\n\"\",x\nit's 5\" long,\"\"\"\"\nlast,one",
                 kPair),
            (Lines{"0:1 a, b => c", "1:2 say \"yes\" => one two", "3:5 it's 5\" long => \"", "4:6 last => one"}));
  EXPECT_EQ(report_, "5 samples, 4 used\n  1 left out, a side is empty: x.csv:4");
  EXPECT_EQ(read("y.csv", "\"a\"b,c\nd,e,f\ng,h\n\"open,i\nj,k\n", kPair), Lines{"2:3 g => h"});
  EXPECT_EQ(report_,
            "4 samples, 1 used\n  1 left out, text stands behind a closed quote: y.csv:1\n  1 left out, not 2 columns: "
            "y.csv:2\n  1 left out, a quote is not closed: y.csv:4");
}

TEST_F(SamplesTest, AnOpenQuoteDoesNotSwallowALargeFile) {
  std::string bytes = "\"open,b\n";
  for (int i = 0; i < 17; ++i) bytes += std::string(std::size_t{1} << 20, 'x') + '\n';
  expect_message("x.csv: the record of line 1 is longer than", {.files = {write("x.csv", bytes)}}, kPair);
}

TEST_F(SamplesTest, FieldsOfJsonAreFoundByName) {
  EXPECT_EQ(read("x.jsonl",
                 R"({"target": ["b", "c"], "source": "a", "other": {"x": [1]}})"
                 "\n"
                 R"({"source": "d\ne", "target": 5})"
                 "\n"
                 R"({"source": "\u00e4", "target": "f"})",
                 kPair),
            (Lines{"0:1 a => b | c", "1:2 d e => 5", "2:3 \u00e4 => f"}));
  const std::string deep =
      "{\"source\": \"[[[[[[[[[[[[[[[[[[[[\\\"{\", \"target\": \"ok\"}";  // in a text they are text
  const std::string deeper =
      R"({"source": "a", "target": "b", "x": )" + std::string(16, '[') + std::string(16, ']') + "}";
  EXPECT_EQ(
      read("y.jsonl",
           deep + "\n" + deeper + "\n{\"source\": \"a\"}\n{\"source\": 1, \"target\": \"b\"}\n[1]\n{\"source\"\n\n" +
               "{\"source\": \"a\", \"target\": true}\n{\"source\": \"a\", \"target\": []}\n" +
               "{\"source\": \"a\", \"target\": [\"b\", 1]}\n{\"source\": \"\xff\", \"target\": \"b\"}\n",
           kPair),
      Lines{"0:1 [[[[[[[[[[[[[[[[[[[[\"{ => ok"});
  EXPECT_EQ(
      report_,
      "11 samples, 1 used\n  1 left out, nested deeper than 16: y.jsonl:2\n  1 left out, without the field target: "
      "y.jsonl:3\n  1 left out, the field source is no text: y.jsonl:4\n  3 left out, not a JSON object: y.jsonl:5, "
      "y.jsonl:6, y.jsonl:7\n  2 left out, the field target is no text: y.jsonl:8, y.jsonl:10\n  1 left out, a side "
      "is empty: y.jsonl:9\n  1 left out, not UTF-8: y.jsonl:11");
}

TEST_F(SamplesTest, AMillionBracketsAreAFault) {
  EXPECT_EQ(read("x.jsonl", std::string(1'000'000, '[') + "\n" + R"({"source": "a", "target": "b"})", kPair),
            Lines{"1:2 a => b"});
}

TEST_F(SamplesTest, LabelsOfFasttextStandAnywhere) {
  const std::string text = "__label__good  very\tnice\nbad __label__bad one __label__ugly\nnone\n__label__x\n";
  EXPECT_EQ(read("x", text, kLabelled), (Lines{"0:1 very nice => good", "1:2 bad one => bad | ugly"}));
  EXPECT_EQ(report_, "4 samples, 2 used\n  1 left out, without a label: x:3\n  1 left out, a side is empty: x:4");
  EXPECT_EQ(read("x", text, {kLabelled[1], kLabelled[0]}, "fasttext")[0], "0:1 very nice => good");
  EXPECT_EQ(read("x", text, {kLabelled[0]}), (Lines{"0:1 very nice => ", "1:2 bad one => ", "2:3 none => "}));
  expect_message("fasttext have a text and labels, not the columns a, b, label",
                 {.files = {write("y", text)}, .format = "fasttext"}, {{"a"}, {"b"}, {"label", Kind::label, true}});
}

TEST_F(SamplesTest, LabelsAreTrimmedAndMayBeUnknown) {
  EXPECT_EQ(read("x.tsv", "a\t yes \nb\t-\nc\t - \nd\t\ne\tnot sure\n", kLabelled),
            (Lines{"0:1 a => yes", "4:5 e => not sure"}));
  EXPECT_EQ(report_,
            "5 samples, 2 used\n  2 left out, without a label: x.tsv:2, x.tsv:3\n  1 left out, a side is empty: "
            "x.tsv:4");
}

TEST_F(SamplesTest, AMarkIsALabelWhereNoneIsDeclared) {
  EXPECT_EQ(read("x.tsv", "a\t-\n", {{"text"}, {"label", Kind::label, true}}), Lines{"0:1 a => -"});
}

TEST_F(SamplesTest, InferenceInJsonLines) {
  const std::string line =
      R"({"annotator_labels": ["neutral"], "captionID": "1.jpg#0", "gold_label": "%", "pairID": "1.jpg#0r1n", )"
      R"("sentence1": "A boat rests.", "sentence1_binary_parse": "( A boat ) rests", "sentence2": "A boat moves."})";
  const auto labelled = [&](const std::string& label) { return std::string(line).replace(line.find('%'), 1, label); };
  EXPECT_EQ(
      read("snli.jsonl", labelled("contradiction") + "\n" + labelled("-") + "\n" + labelled("neutral") + "\n",
           kInference),
      (Lines{"0:1 A boat rests. | A boat moves. => contradiction", "2:3 A boat rests. | A boat moves. => neutral"}));
  EXPECT_EQ(report_, "3 samples, 2 used\n  1 left out, without a label: snli.jsonl:2");
  EXPECT_EQ(
      read("own", R"({"sentence1": "not this", "premise": "a", "hypothesis": "b", "label": "x", "gold_label": 3})",
           kInference),
      Lines{"0:1 a | b => x"});
  EXPECT_EQ(read("half.jsonl", R"({"premise": "a", "label": "x"})", kInference), Lines{});
  EXPECT_EQ(report_, "1 samples, 0 used\n  1 left out, without the field hypothesis: half.jsonl:1");
}

TEST_F(SamplesTest, InferenceInTables) {
  const Lines expected = {"0:2 A boat rests. | A boat moves. => contradiction", "2:4 A cat. | A pet. => entailment"};
  const std::string snli =
      "gold_label\tsentence1_binary_parse\tsentence1\tsentence2\tcaptionID\tlabel1\tlabel2\n"
      "contradiction\t( A boat )\tA boat rests.\tA boat moves.\t1\tneutral\t\n"
      "-\t( A boat )\tA boat rests.\tA ship rests.\t1\tneutral\tentailment\n"
      "entailment\t( A cat )\tA cat.\tA pet.\t2\tentailment\t\n";
  EXPECT_EQ(read("snli.txt", snli, kInference), expected);
  EXPECT_EQ(report_, "3 samples, 2 used\n  1 left out, without a label: snli.txt:3");
  const std::string multi =
      "index\tgenre\tsentence1\tsentence2\tgold_label\n0\tletters\tA boat rests.\tA boat moves.\tcontradiction\n"
      "1\tletters\tx\ty\t-\n2\tletters\tA cat.\tA pet.\tentailment\n";
  EXPECT_EQ(read("multi.tsv", multi, kInference), expected);
  EXPECT_EQ(read("plain.tsv", "neutral\tA cat.\tA \"pet\".\n", kInference),
            Lines{"0:1 A cat. | A \"pet\". => neutral"});
  EXPECT_EQ(read("quoted.csv", "sentence2,sentence1,gold_label\n\"A pet, here.\",A cat.,neutral\n", kInference),
            Lines{"0:2 A cat. | A pet, here. => neutral"});
  EXPECT_EQ(read("given.tsv", "A cat.\tA pet.\tneutral\n", kInference, "", {"sentence1", "sentence2", "label"}),
            Lines{"0:1 A cat. | A pet. => neutral"});
  // Of several names the column's own counts, wherever it stands.
  EXPECT_EQ(read("both.tsv", "gold_label\tpremise\tlabel\thypothesis\tsentence1\nno\ta\tyes\tb\tc\n", kInference),
            Lines{"0:2 a | b => yes"});
}

TEST_F(SamplesTest, PairsThatAreNone) {
  EXPECT_EQ(
      read("x.tsv", "neutral\tA cat.\nneutral\tA cat.\t\nneutral\tA cat.\tA pet.\t\t\nneutral\ta\tb\n", kInference),
      Lines{"3:4 a | b => neutral"});
  EXPECT_EQ(report_,
            "4 samples, 1 used\n  2 left out, not 3 columns: x.tsv:1, x.tsv:3\n  1 left out, a side is empty: x.tsv:2");
}

TEST_F(SamplesTest, TheFormatIsSeen) {
  const Lines pair = {"0:1 a => b"};
  EXPECT_EQ(read("x.csv", "a,b\n", kPair), pair);
  EXPECT_EQ(read("x.JSON", R"({"source": "a", "target": "b"})", kPair), pair);
  EXPECT_EQ(read("x", R"({"source": "a", "target": "b"})", kPair), pair);
  EXPECT_EQ(read("x", "a\tb\n", kPair), pair);
  EXPECT_EQ(read("x", "a __label__b\n", kLabelled), pair);
  EXPECT_EQ(read("x", "a\n", {{"source"}}), Lines{"0:1 a => "});
  EXPECT_EQ(read("x", "a\tb\n", {{"source"}}), Lines{"0:1 a\tb => "});  // of one column, a tab separates nothing
  EXPECT_EQ(read("x", "id\tsource\n1\ta\n", {{"source"}}), Lines{"0:2 a => "});
  const auto files = [&](const Lines& names, std::string_view bytes) {
    SampleFiles result;
    for (const std::string& name : names) result.files.push_back(write(name, bytes));
    return result;
  };
  expect_message("x: its format cannot be seen; say it with --format", files({"x"}, "a\n"), kPair);
  expect_message("x: its format cannot be seen", files({"x"}, ""), kPair);
  expect_message("b.csv: it is csv, but", files({"a.tsv", "b.csv"}, "a\tb\n"), kPair);
}

TEST_F(SamplesTest, PackedFilesAreReadAsTheyAre) {
  const std::string path = write("x.tsv.gz", "");
  const std::string_view bytes = "a\tb\r\nc\td\n";
  gzFile file = gzopen(path.c_str(), "wb");
  EXPECT_EQ(gzwrite(file, bytes.data(), static_cast<unsigned>(bytes.size())), static_cast<int>(bytes.size()));
  EXPECT_EQ(gzclose(file), Z_OK);
  Samples samples({.files = {path}}, kPair);
  EXPECT_EQ(rest_of(samples), (Lines{"0:1 a => b", "1:2 c => d"}));
}

TEST_F(SamplesTest, RewindStartsAnew) {
  Samples samples(
      {.files = {write("x.tsv", "source\ttarget\na\tb\nbad\nc\td\n")}, .alignments = {write("links", "0-0\n\n1-1\n")}},
      kPair);
  Sample sample;
  ASSERT_TRUE(samples.next(sample));
  EXPECT_FALSE(samples.report().complete);
  EXPECT_EQ(samples.report().text(), "1 samples so far, 1 used");
  samples.rewind();
  const Lines all = rest_of(samples);
  EXPECT_EQ(all, (Lines{"0:2 a => b", "2:4 c => d"}));
  EXPECT_EQ(samples.links(), (WordLinks{{1, 1}}));
  const std::string report = samples.report().text();
  samples.rewind();
  EXPECT_EQ(samples.report().read, 0);
  EXPECT_EQ(rest_of(samples), all);
  EXPECT_EQ(samples.report().text(), report);
}

TEST_F(SamplesTest, LinksGoLineByLineWithTheSamples) {
  const auto links_of = [&](const Lines& alignments) {
    Samples samples(
        {.files = {write("a.s", "a\n\nb\n"), write("a.t", "a\nx\nb\nmore\n"), write("b.s", "c\n"), write("b.t", "c\n")},
         .allow_bad_lines = true,
         .alignments = alignments},
        kPair);
    Lines all;
    for (Sample sample; samples.next(sample);) {
      all.push_back(sample.inputs[0].text + (samples.links_valid() ? "" : " invalid"));
      for (const auto& [input, output] : samples.links()) all.back() += fmt::format(" {}-{}", input, output);
    }
    report_ = report_of(samples);
    return all;
  };
  EXPECT_EQ(links_of({}), (Lines{"a", "b", "c"}));
  EXPECT_EQ(links_of({write("one", "0-0\n1-1\n2-2\n3-3\n")}), (Lines{"a 0-0", "b 2-2", "c 3-3"}));
  EXPECT_EQ(links_of({write("one", "0-0\n1-1\nx\n")}), (Lines{"a 0-0", "b invalid", "c invalid"}));
  EXPECT_EQ(links_of({write("one", "0-0\n1-1\n2-2\n9-9\n"), write("two", "3-3\n4-4\n")}),
            (Lines{"a 0-0", "b 2-2", "c 3-3"}));
  EXPECT_EQ(
      report_,
      "5 samples, 3 used\n  1 left out, a side is empty: a.s:2\n  1 left out, the other file has fewer lines: a.t:4\n"
      "  2 used without their alignment, which does not fit: one:4, two:2");
  EXPECT_NE(message_of([&] { links_of({"1", "2", "3"}); }).find("3 files of alignments for 2 sets"), std::string::npos);
}

// An image of this test: the words "heed test image", and then its height.
Value decode_test_image(std::string_view bytes, const std::string& name) {
  require(bytes.size() == 16, "{}: it has {} bytes", name, bytes.size());
  return {.numbers = Tensor(Shape{bytes.back() - '0', 2, 1}, Real{1})};
}
const RegisterKindDecoder decoder({Kind::image, {".test"}, "heed test image", decode_test_image});

TEST_F(SamplesTest, ImagesAreReadFromTheFolderOfTheList) {
  write("list/photos/good.test", "heed test image3");
  write("list/photos/damaged.test", "heed test image");
  write("list/photos/unknown.test", "something else");
  const std::vector<SampleColumn> columns = {{"image", Kind::image}, {"question"}, {"answer", Kind::label, true}};
  Samples samples({.files = {write("list/all.tsv",
                                   "photos/good.test\twhat\tcat\nphotos/missing.test\twhat\tcat\n"
                                   "photos/damaged.test\twhat\tcat\nphotos/unknown.test\twhat\tcat\n\twhat\tcat\n" +
                                       path("list/photos/good.test") + "\twho\tdog\n")},
                   .allow_bad_lines = true},
                  columns);
  Sample sample;
  ASSERT_TRUE(samples.next(sample));
  EXPECT_FALSE(sample.inputs[0].numbers);  // opened, not decoded
  EXPECT_EQ(decoded(Kind::image, sample.inputs[0]).numbers.shape(), (Shape{3, 2, 1}));
  EXPECT_EQ(sample.inputs[0].text, path("list/photos/good.test"));
  EXPECT_EQ(sample.inputs[1].text, "what");
  for (const char* wrong : {"damaged.test: it has 15 bytes", "unknown.test: it is no image that can be read here"}) {
    ASSERT_TRUE(samples.next(sample));
    EXPECT_EQ(message_of([&] { decoded(Kind::image, sample.inputs[0]); }), path("list/photos/") + wrong);
  }
  ASSERT_TRUE(samples.next(sample));
  EXPECT_EQ(samples.number(), 5);
  EXPECT_EQ(sample.outputs, Lines{"dog"});
  EXPECT_FALSE(samples.next(sample));
  EXPECT_EQ(report_of(samples),
            "6 samples, 4 used\n  1 left out, cannot be read: list/all.tsv:2 (photos/missing.test)\n  1 left out, a "
            "side is empty: list/all.tsv:5");
}

TEST_F(SamplesTest, TheStandardInputIsReadOnceAndItsFormatSeen) {
  const int kept = ::dup(STDIN_FILENO), file = ::open(write("in", "source\ttarget\na\tb\n").c_str(), O_RDONLY);
  ASSERT_EQ(::dup2(file, STDIN_FILENO), STDIN_FILENO);
  Samples samples({.files = {"-"}}, kPair);
  EXPECT_EQ(rest_of(samples), Lines{"0:2 a => b"});
  EXPECT_EQ(samples.place().file, "standard input");
  EXPECT_NE(message_of([&] { samples.rewind(); }).find("cannot be read a second time"), std::string::npos);
  ::dup2(kept, STDIN_FILENO);
  ::close(kept);
  ::close(file);
  expect_message("can be only one of the files", {.files = {"-", "-"}}, kPair);
}

TEST_F(SamplesTest, NamesThatDoNotFitAreErrors) {
  const std::string file = write("x.tsv", "a\tb\n");
  const auto files = [&](const std::string& format, const Lines& columns) {
    return SampleFiles{.files = {file}, .format = format, .columns = columns};
  };
  expect_message("there is no format tsb; did you mean tsv?", files("tsb", {}), kPair);
  expect_message("there is no column sorce; did you mean source?", files("", {"sorce", "target"}), kPair);
  expect_message("the columns source, - are without target", files("", {"source", "-"}), kPair);
  expect_message("name source twice", files("", {"source", "source", "target"}), kPair);
  expect_message("1 files of lines are no whole sets of 2: there is one for each of source, target", files("lines", {}),
                 kPair);
  expect_message("there is no column to read", files("", {}), {});
  expect_message("the output picture is of kind image", files("", {}), {{"source"}, {"picture", Kind::image, true}});
  expect_message("there is no file of samples", {}, kPair);
  expect_message("missing.tsv: cannot open it", {.files = {file, "missing.tsv"}}, kPair);
}

// The bytes that mean something in some format, in any order.
std::string gen_bytes() {
  return *rc::gen::container<std::string>(
      rc::gen::element('"', ',', '\t', '\n', '\r', '{', '}', '[', ']', ':', '\\', ' ', 'a', '-', '\xc3', '\xa4'));
}

RC_GTEST_FIXTURE_PROP(SamplesTest, AnyBytesAreSamplesOrFaults, ()) {
  const std::string file = write("x", gen_bytes());
  for (const char* format : {"lines", "tsv", "csv", "jsonl", "fasttext"}) {
    const bool lines = std::string(format) == "lines";
    Samples samples({.files = lines ? Lines{file, file} : Lines{file}, .format = format, .allow_bad_lines = true},
                    kLabelled);
    const Lines all = rest_of(samples);
    RC_ASSERT(static_cast<Index>(all.size()) == samples.report().kept);
    RC_ASSERT(samples.report().read == samples.report().kept + samples.report().left_out());
  }
}

RC_GTEST_FIXTURE_PROP(SamplesTest, ACsvInQuotesComesBack, ()) {
  const auto cells = *rc::gen::container<std::vector<std::pair<std::string, std::string>>>(
      rc::gen::pair(rc::gen::container<std::string>(rc::gen::element('"', ',', '\t', '\n', 'a')),
                    rc::gen::container<std::string>(rc::gen::element('"', ',', ' ', '\n', 'b'))));
  std::string bytes;
  const auto quoted = [](const std::string& cell) {
    std::string text = "x";  // in front, so that nothing is empty
    for (const char c : cell) text += c == '"' ? "\"\"" : std::string(1, c);
    return '"' + text + '"';
  };
  for (const auto& [source, target] : cells) bytes += quoted(source) + "," + quoted(target) + "\n";
  Samples samples({.files = {write("x.csv", bytes)}}, kPair);
  Sample sample;
  for (auto [source, target] : cells) {
    std::replace(source.begin(), source.end(), '\n', ' ');
    std::replace(target.begin(), target.end(), '\n', ' ');
    RC_ASSERT(samples.next(sample));
    RC_ASSERT(sample.inputs[0].text == "x" + source);
    RC_ASSERT(sample.outputs[0] == "x" + target);
  }
  RC_ASSERT(!samples.next(sample));
}

// Lines of "target < source", a format that only this test knows.
class Backwards final : public SampleFormat {
 public:
  bool next(FileLines& lines, SampleRecord& record) override {
    std::string line;
    if (!lines.next(line)) return false;
    record.place = {lines.name(), lines.number()};
    const std::size_t at = line.find(" < ");
    if (at == std::string::npos) {
      record.fault = "left out, without a <";
    } else {
      record.cells = {{line.substr(at + 3)}, {line.substr(0, at)}};
    }
    return true;
  }
};

const RegisterSampleFormat backwards{
    {.name = "backwards",
     .description = "lines of target < source",
     .knows = [](const std::string& path, const std::vector<SampleColumn>&) { return path.ends_with(".backwards"); },
     .open =
         [](const SampleFiles& files, const std::vector<SampleColumn>&) {
           return records_in_turn(files.files, {}, std::make_unique<Backwards>());
         }}};

TEST_F(SamplesTest, AFormatRegistersItself) {
  const std::string known = write("pairs.backwards", "y < x\nnothing\n"), named = write("pairs", "y < x\nnothing\n");
  for (const SampleFiles& files :
       {SampleFiles{.files = {known}}, SampleFiles{.files = {named}, .format = "backwards"}}) {
    Samples samples(files, kPair);
    Sample sample;
    ASSERT_TRUE(samples.next(sample));
    EXPECT_EQ(sample.inputs.at(0).text, "x");
    EXPECT_EQ(sample.outputs, std::vector<std::string>{"y"});
    EXPECT_FALSE(samples.next(sample));
    EXPECT_EQ(samples.report().text(), "2 samples, 1 used\n  1 left out, without a <: " + files.files[0] + ":2");
  }
  const std::vector<std::string> names = sample_format_names();
  EXPECT_NE(std::find(names.begin(), names.end(), "backwards"), names.end());
}

}  // namespace
}  // namespace heed
