#include "heed/data/sentences.h"

#include <gtest/gtest.h>

#include <random>

#include "heed/base/utf8.h"

namespace heed {
namespace {

using Sentences = std::vector<std::string>;

// The sentences without the blanks around them.
Sentences sentences(std::string_view text) {
  Sentences found;
  std::size_t begin = 0;
  for (const std::size_t end : sentence_ends(text)) {
    std::string sentence(text.substr(begin, end - begin));
    sentence.erase(0, std::min(sentence.find_first_not_of(" \t\r\n"), sentence.size()));
    sentence.erase(sentence.find_last_not_of(" \t\r\n") + 1);
    found.push_back(sentence);
    begin = end;
  }
  EXPECT_EQ(begin, text.size());
  return found;
}

TEST(Sentences, PlainText) {
  EXPECT_EQ(sentences(""), Sentences{});
  EXPECT_EQ(sentences("  "), Sentences{""});
  EXPECT_EQ(sentences("no mark at all"), Sentences{"no mark at all"});
  EXPECT_EQ(sentences("The lamp broke. Who broke it? Nobody! It fell."),
            (Sentences{"The lamp broke.", "Who broke it?", "Nobody!", "It fell."}));
  EXPECT_EQ(sentences("One.  Two.\tThree. "), (Sentences{"One.", "Two.", "Three."}));
  EXPECT_EQ(sentences("What?! Never again!!! Truly."), (Sentences{"What?!", "Never again!!!", "Truly."}));
}

TEST(Sentences, BlanksBelongToTheSentenceBeforeThem) {
  EXPECT_EQ(sentence_ends("One.  Two. "), (std::vector<std::size_t>{6, 11}));
}

TEST(Sentences, QuotesAndBracketsClose) {
  EXPECT_EQ(sentences("\"It is late.\" She left. (Nobody saw her.) “Good.” He slept."),
            (Sentences{"\"It is late.\"", "She left.", "(Nobody saw her.)", "“Good.”", "He slept."}));
  EXPECT_EQ(sentences("\"Stop!\" he cried. \"Why?\" asked the guard."),
            (Sentences{"\"Stop!\" he cried.", "\"Why?\" asked the guard."}));
  EXPECT_EQ(sentences("It works [see below]. Try it."), (Sentences{"It works [see below].", "Try it."}));
}

TEST(Sentences, Abbreviations) {
  EXPECT_EQ(sentences("Mr. Holm met Dr. Brandt at St. Anne's. They talked."),
            (Sentences{"Mr. Holm met Dr. Brandt at St. Anne's.", "They talked."}));
  EXPECT_EQ(sentences("Bring tools, e.g. A hammer, i.e. One that works. Go."),
            (Sentences{"Bring tools, e.g. A hammer, i.e. One that works.", "Go."}));
  EXPECT_EQ(sentences("The U.S. Navy left the U.S. The ships were old."),
            (Sentences{"The U.S. Navy left the U.S.", "The ships were old."}));
  EXPECT_EQ(sentences("J. R. R. Marlow wrote it. Read it."), (Sentences{"J. R. R. Marlow wrote it.", "Read it."}));
  EXPECT_EQ(sentences("He lives at No. 7 there. He said no. Later he went."),
            (Sentences{"He lives at No. 7 there.", "He said no.", "Later he went."}));
  EXPECT_EQ(sentences("We met at 5 p.m. on Monday. It closed at 6 p.m. We went home."),
            (Sentences{"We met at 5 p.m. on Monday.", "It closed at 6 p.m.", "We went home."}));
  EXPECT_EQ(sentences("Nuts, bolts, etc. are sold by Rowe Inc. Only."),
            (Sentences{"Nuts, bolts, etc. are sold by Rowe Inc. Only."}));
  EXPECT_EQ(sentences("Plan A vs. Plan B. The second won."), (Sentences{"Plan A vs. Plan B.", "The second won."}));
}

TEST(Sentences, Numbers) {
  EXPECT_EQ(sentences("It costs 3.50 or .75 a day. In 1999. Later it was 4."),
            (Sentences{"It costs 3.50 or .75 a day.", "In 1999.", "Later it was 4."}));
  EXPECT_EQ(sentences("1. Take the lid off. 2. Wait."), (Sentences{"1. Take the lid off.", "2. Wait."}));
  EXPECT_EQ(sentences("See example.com or setup.exe, version 2.0.1, now."),
            (Sentences{"See example.com or setup.exe, version 2.0.1, now."}));
}

TEST(Sentences, Ellipses) {
  EXPECT_EQ(sentences("Well... it was fine... The end was not. Wait… what? Yes…"),
            (Sentences{"Well... it was fine...", "The end was not.", "Wait… what?", "Yes…"}));
  EXPECT_EQ(sentences("It was long . . . and dull . . . The end ."),
            (Sentences{"It was long . . .", "and dull . . .", "The end ."}));
}

TEST(Sentences, MissingBlanks) {
  EXPECT_EQ(sentences("It was bad.The rest was worse!Nobody stayed."),
            (Sentences{"It was bad.", "The rest was worse!", "Nobody stayed."}));
  EXPECT_EQ(sentences("Ask at www.example.Com or a.B or node.Ready.now today."),
            (Sentences{"Ask at www.example.Com or a.B or node.Ready.now today."}));
}

TEST(Sentences, SmallLettersAndTokenisedText) {
  EXPECT_EQ(sentences("i liked it. it was short! was it good? yes."),
            (Sentences{"i liked it.", "it was short!", "was it good?", "yes."}));
  EXPECT_EQ(sentences("the room was cold . ( so was the soup . ) `` never again . '' we left ."),
            (Sentences{"the room was cold .", "( so was the soup . )", "`` never again . ''", "we left ."}));
}

TEST(Sentences, TagsAndLines) {
  EXPECT_EQ(sentences("A first line<br /><br />A second. <p>A third</p><P class=\"x\">and a < b > c"),
            (Sentences{"A first line<br /><br />", "A second. <p>", "A third</p><P class=\"x\">", "and a < b > c"}));
  EXPECT_EQ(sentences("<br>Only one<br/>"), Sentences{"<br>Only one<br/>"});
  EXPECT_EQ(sentences("<pre>a<bra>b"), Sentences{"<pre>a<bra>b"});
  EXPECT_EQ(sentences("A title\n\nA line that\ngoes on.\r\nThe next."),
            (Sentences{"A title", "A line that\ngoes on.", "The next."}));
}

TEST(Sentences, ChineseAndJapanese) {
  EXPECT_EQ(sentences("房间很干净。服务也好！你会再来吗？会的。"),
            (Sentences{"房间很干净。", "服务也好！", "你会再来吗？", "会的。"}));
  EXPECT_EQ(sentences("“价格太高了。”老板没有说话。（他走了。）"),
            (Sentences{"“价格太高了。”", "老板没有说话。", "（他走了。）"}));
  EXPECT_EQ(sentences("部屋は静かでした。「また来ます。」と彼は言った。本当に！？はい｡"),
            (Sentences{"部屋は静かでした。", "「また来ます。」と彼は言った。", "本当に！？", "はい｡"}));
  EXPECT_EQ(sentences("他 说 ： “ 我 去 。 ” 她 笑 了 。 （ 走 了 。 ） 好 ！"),
            (Sentences{"他 说 ： “ 我 去 。 ”", "她 笑 了 。", "（ 走 了 。 ）", "好 ！"}));
  EXPECT_EQ(sentences("重量3.5公斤。No blank here.但是很好。"),
            (Sentences{"重量3.5公斤。", "No blank here.", "但是很好。"}));
}

TEST(Sentences, OtherAlphabets) {
  EXPECT_EQ(sentences("Он пришёл. Она ушла... и всё. Élan vital. ça va."),
            (Sentences{"Он пришёл.", "Она ушла... и всё.", "Élan vital.", "ça va."}));
  EXPECT_EQ(sentences("यह अच्छा है। वह नहीं।"), (Sentences{"यह अच्छा है।", "वह नहीं।"}));
}

TEST(Sentences, OnlyMarks) {
  EXPECT_EQ(sentences("... !!! ?"), Sentences{"... !!! ?"});
  EXPECT_EQ(sentences("!!! Look."), Sentences{"!!! Look."});
  EXPECT_EQ(sentences("Look. ---"), Sentences{"Look. ---"});
  EXPECT_EQ(sentences("<br />"), Sentences{"<br />"});
}

// Whatever the text: the ends rise, the last is the size, and none cuts a character.
TEST(Sentences, AnyText) {
  const std::vector<std::string> parts{".",  "!",    "?",  "…",    "。",  "」", "\"",  "'",   ")",  " ",
                                       "\n", "<br>", "<p", "a",    "Dr",  "B",  "7",   "The", "と", "é",
                                       "।",  "؟",    "—",  "</p>", "x.y", "'",  "i.e", "   ", "<",  "/>"};
  std::mt19937 random(7);
  for (int trial = 0; trial < 20'000; ++trial) {
    std::string text;
    for (auto left = random() % 12; left > 0; --left) text += parts[random() % parts.size()];
    std::size_t last = 0;
    for (const std::size_t end : sentence_ends(text)) {
      ASSERT_GT(end, last) << text;
      ASSERT_TRUE(valid_utf8(std::string_view(text).substr(last, end - last))) << text;
      last = end;
    }
    ASSERT_EQ(last, text.size()) << text;
  }
}

}  // namespace
}  // namespace heed
