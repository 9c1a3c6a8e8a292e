#include "heed/data/labels.h"

#include <gtest/gtest.h>

#include "heed/base/file.h"
#include "support/messages.h"
#include "support/temporary_folder.h"

namespace heed {
namespace {

using test::message_of;
using Labels = std::vector<std::string>;

const std::vector<SampleColumn> kLabelColumns = {{"label", Kind::label, true, {}, "-"}, {"document", Kind::document}};

class LabelsOfFile : public testing::Test {
 protected:
  SampleFiles file(std::string_view text) const {
    write_file(path(), text);
    return {.files = {path()}};
  }
  std::string path() const { return (folder_.path() / "x.tsv").string(); }
  // Lines of text first and label second.
  static std::string swapped(int count) {
    std::string text;
    for (int i = 0; i < count; ++i) text += fmt::format("document number {}\t{}\n", i, i % 2 ? "good" : "bad");
    return text;
  }
  TemporaryFolder folder_;
};

TEST_F(LabelsOfFile, AreThoseThatOccur) {
  EXPECT_EQ(learn_labels(file("b\tx\na\ty\nb\tz\n-\tw\n"), kLabelColumns), (Labels{"a", "b"}));
}

TEST_F(LabelsOfFile, OneIsNotEnough) {
  EXPECT_EQ(message_of([&] { learn_labels(file("a\tx\na\ty\n-\tz\n"), kLabelColumns); }),
            "[train] there is no label but a in " + path() + "; at least two labels are needed");
  EXPECT_EQ(message_of([&] { learn_labels(file("-\tx\na\tb\t\tc\n"), kLabelColumns); }),
            "[train] there is no usable sample: 2 samples, 0 used\n  1 left out, without a label: " + path() +
                ":1\n  1 left out, not 2 columns: " + path() + ":2");
}

TEST_F(LabelsOfFile, TextsAreNone) {
  EXPECT_EQ(message_of([&] { learn_labels(file("-\tz\n" + swapped(40)), kLabelColumns); }),
            path() +
                ":2: its labels look like texts: 40 samples have 40 different ones, the first is \"document number "
                "0\". Its columns were read as label, document; say their order with --columns");
  SampleFiles named = file(swapped(40));
  named.columns = {"document", "label"};
  EXPECT_EQ(learn_labels(named, kLabelColumns), (Labels{"bad", "good"}));
  EXPECT_EQ(learn_labels(file(swapped(6)), kLabelColumns).size(), 6U);  // so few may have a label each
}

TEST_F(LabelsOfFile, ManyClassesAreFine) {
  std::string text;
  for (int i = 0; i < 60; ++i) text += fmt::format("class {}\ttext {}\n", i / 2, i);
  EXPECT_EQ(learn_labels(file(text), kLabelColumns).size(), 30U);
}

}  // namespace
}  // namespace heed
