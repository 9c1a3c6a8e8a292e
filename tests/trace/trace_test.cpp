#include "heed/trace/trace.h"

#include <gtest/gtest.h>

#include "support/messages.h"
#include "trace/small_trace.h"

namespace heed::test {
namespace {

TEST(Trace, HasItsAxesByName) {
  Trace trace = label_trace();
  EXPECT_EQ(trace.axis("document").size(), 5);
  EXPECT_EQ(trace.output().name, "label");
  EXPECT_EQ(trace.output().size(), 1);
  trace.axis("label").text.text = "bad";
  EXPECT_EQ(trace.axes[1].text.text, "bad");
  EXPECT_EQ(message_of([&] { trace.axis("lable"); }), "[trace] there is no axis lable; did you mean label?");
  EXPECT_EQ(message_of([] { Trace().output(); }), "[trace] it has no axes");
  EXPECT_EQ(message_of([] { Trace().column_axis(); }), "[trace] it has no axes");
}

TEST(Trace, WithoutAlignmentItsAxesAreTheOutputAndTheFirst) {
  Trace trace = traces_of_version_2().at(0);
  EXPECT_EQ(trace.row_axis().name, "hypothesis");
  trace.rows = trace.columns = "", trace.alignment = {};
  EXPECT_EQ(trace.row_axis().name, "label");
  EXPECT_EQ(trace.column_axis().name, "premise");
}

TEST(TraceAxis, PlacesHaveNames) {
  EXPECT_EQ(labels_of(small_trace().axis("source")), (std::vector<std::string>{"▁the", "▁cat", "s", "</s>"}));
  EXPECT_EQ(labels_of({.name = "image", .kind = Kind::image, .rows = 2, .columns = 2}),
            (std::vector<std::string>{"1,1", "1,2", "2,1", "2,2"}));
  EXPECT_EQ(labels_of({.name = "sound", .kind = Kind::sound, .rows = 3, .columns = 1, .frames = {0.25}}),
            (std::vector<std::string>{"0 s", "0.25 s", "0.5 s"}));
  EXPECT_EQ(labels_of({.name = "sound", .kind = Kind::sound, .rows = 2, .columns = 1}),
            (std::vector<std::string>{"frame 1", "frame 2"}));
}

TEST(TraceAxis, APreviewIsAPictureAndNothingElse) {
  EXPECT_TRUE(is_preview("data:image/png;base64,iVBORw0KGgo="));
  EXPECT_TRUE(is_preview("data:image/jpeg;base64,/9j/"));
  for (const char* url : {"", "a.png", "https://example.org/a.png", "data:image/png,abc",
                          "data:image/svg+xml;base64,AA==", "data:image/png;base64,AA\"onload=\"",
                          "data:image/png;base64,AA AA", "javascript:1"})
    EXPECT_FALSE(is_preview(url)) << url;
}

}  // namespace
}  // namespace heed::test
