#include "heed/explain/terminal.h"

#include <gtest/gtest.h>

#include <limits>

#include "support/messages.h"

namespace heed {
namespace {

TEST(Terminal, DrawsAMatrixInCharacters) {
  const std::vector<std::string> outputs{"le", "chat"}, inputs{"the", "cat", "."};
  const Tensor weights(Shape{2, 3}, {Real{0.9F}, Real{0.1F}, 0, 0, Real{0.5F}, 1});
  EXPECT_EQ(draw_matrix(outputs, inputs, weights, TerminalColour::none),
            "     t c\n"
            "     h a\n"
            "     e t .\n"
            "  le %%..\n"
            "chat   ++@@\n");
}

TEST(Terminal, WideCharactersTakeTwoColumns) {
  const std::vector<std::string> outputs{"猫", "e\u0301t", "👩‍👧!"}, inputs{"眠る", "a", "e\u0301"};
  const Tensor weights(Shape{3, 3}, {1, 0, 0, 0, 1, 0, 0, 0, 1});
  EXPECT_EQ(draw_matrix(outputs, inputs, weights, TerminalColour::none),
            "    眠\n"
            "    るa e\u0301\n"
            " 猫 @@\n"
            " e\u0301t   @@\n"
            "👩‍👧!     @@\n");
}

TEST(Terminal, DrawsColoursOfBothDepths) {
  const std::vector<std::string> one{"a"};
  const Tensor all(Shape{1, 1}, Real{1}), none(Shape{1, 1}, std::numeric_limits<Real>::quiet_NaN());
  EXPECT_EQ(draw_matrix(one, one, all, TerminalColour::palette), "  a\na \x1b[48;5;255m  \x1b[0m\n");
  EXPECT_EQ(draw_matrix(one, one, all, TerminalColour::true_colour), "  a\na \x1b[48;2;253;231;37m  \x1b[0m\n");
  EXPECT_EQ(draw_matrix(one, one, none, TerminalColour::true_colour), "  a\na \x1b[48;2;16;24;64m  \x1b[0m\n");
}

TEST(Terminal, ColoursHaveNames) {
  EXPECT_EQ(terminal_colour_named("true"), TerminalColour::true_colour);
  EXPECT_EQ(terminal_colour_named("256"), TerminalColour::palette);
  EXPECT_EQ(terminal_colour_named("none"), TerminalColour::none);
  EXPECT_EQ(test::message_of([] { terminal_colour_named("nones"); }),
            "[terminal] there is no colour nones; did you mean none?");
}

TEST(Terminal, ADocumentHasALineAndABarForEachSentence) {
  const std::vector<std::string> label{"good"}, words{"so", "bad", "it", "is"};
  const Tensor weights(Shape{1, 4}, {Real{0.16F}, Real{0.48F}, Real{0.18F}, Real{0.18F}});
  EXPECT_EQ(draw_document(label, words, weights, TerminalColour::none, {2}),
            "good\n"
            "0.64 ######.... so bad\n"
            "                -- @@@\n"
            "0.36 ####...... it is\n"
            "                ++ ++\n");
}

}  // namespace
}  // namespace heed
