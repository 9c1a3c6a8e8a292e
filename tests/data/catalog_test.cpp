#include "heed/data/corpora/catalog.h"

#include <gtest/gtest.h>

#include <fstream>

#include "heed/data/corpora/gettext.h"
#include "support/messages.h"
#include "support/temporary_folder.h"

namespace heed {
namespace {

using test::message_of;
using Pairs = std::vector<std::pair<std::string, std::string>>;

// A .mo with these messages, in either byte order.
std::string compiled(const Pairs& messages, bool turned = false) {
  std::string bytes;
  const auto number = [&](std::size_t value) {
    for (int i = 0; i < 4; ++i) bytes += static_cast<char>(value >> 8 * (turned ? 3 - i : i) & 0xff);
  };
  const std::size_t count = messages.size(), ids = 28, translations = ids + 8 * count;
  for (const std::size_t value :
       {std::size_t{0x950412de}, std::size_t{0}, count, ids, translations, std::size_t{0}, std::size_t{0}})
    number(value);
  std::string strings;
  const auto list = [&](const std::string& text) {
    number(text.size());
    number(translations + 8 * count + strings.size());
    strings += text + '\0';
  };
  for (const auto& message : messages) list(message.first);
  for (const auto& message : messages) list(message.second);
  return bytes + strings;
}

Pairs all_pairs(const std::vector<CatalogMessage>& messages) {
  Pairs all;
  for (const CatalogMessage& message : messages)
    for (const auto& pair : pairs_of(message)) all.push_back(pair);
  return all;
}

const Pairs kMessages{{"", "Content-Type: text/plain; charset=UTF-8\n"},
                      {"Open", "Öffnen"},
                      {std::string("menu\x04") + "Close", "Schließen"},
                      {std::string("%d file\0%d files", 16), std::string("%d Datei\0%d Dateien", 19)},
                      {"Not translated", ""}};

TEST(Catalog, CompiledInEitherByteOrder) {
  const Pairs expected{{"Open", "Öffnen"}, {"Close", "Schließen"}, {"%d file", "%d Datei"}, {"%d files", "%d Dateien"}};
  EXPECT_EQ(all_pairs(read_compiled_catalog(compiled(kMessages), "a.mo")), expected);
  EXPECT_EQ(all_pairs(read_compiled_catalog(compiled(kMessages, true), "a.mo")), expected);
}

TEST(Catalog, AnOriginalThatIsEmptyIsLeftOut) {
  const Pairs messages{{"", ""}, {std::string("\0plural", 7), "a"}, {"menu\x04", "b"}, {"c", "d"}};
  EXPECT_EQ(all_pairs(read_compiled_catalog(compiled(messages), "a.mo")), (Pairs{{"c", "d"}}));
}

TEST(Catalog, TheCharsetOfTheHeaderIsConverted) {
  const Pairs latin{{"", "Content-Type: text/plain; charset=ISO-8859-1\n"},
                    {"Open",
                     "\xd6"
                     "ffnen"}};
  EXPECT_EQ(all_pairs(read_compiled_catalog(compiled(latin), "a.mo")), (Pairs{{"Open", "Öffnen"}}));
  const Pairs unknown{{"", "Content-Type: text/plain; charset=no-such-set\n"}, {"a", "b"}};
  EXPECT_EQ(message_of([&] { read_compiled_catalog(compiled(unknown), "a.mo"); }),
            "a.mo: its charset \"no-such-set\" is unknown");
  const Pairs wrong{{"", "Content-Type: text/plain; charset=EUC-JP\n"}, {"a", "\xff\xff"}};
  EXPECT_EQ(message_of([&] { read_compiled_catalog(compiled(wrong), "a.mo"); }),
            "a.mo: a message is not in the charset EUC-JP of its header");
}

TEST(Catalog, DamagedCompiledCatalogsAreErrors) {
  const std::string whole = compiled(kMessages);
  EXPECT_EQ(message_of([&] { read_compiled_catalog("abc", "a.mo"); }), "a.mo: 3 bytes are too few for a .mo catalogue");
  EXPECT_EQ(message_of([&] { read_compiled_catalog(std::string(40, 'x'), "a.mo"); }),
            "a.mo: it does not start as a .mo catalogue does");
  std::string many = whole;
  many[11] = '\x7f';  // two thousand million messages
  EXPECT_NE(message_of([&] { read_compiled_catalog(many, "a.mo"); }).find("do not fit in"), std::string::npos);
  std::string far = whole;
  far[35] = '\x7f';  // the offset of the first string
  EXPECT_NE(message_of([&] { read_compiled_catalog(far, "a.mo"); }).find("beyond its end"), std::string::npos);
  // The last byte is a terminator, which nothing needs.
  for (std::size_t length = 0; length + 1 < whole.size(); ++length)
    EXPECT_TRUE(message_of([&] { read_compiled_catalog(whole.substr(0, length), "a.mo"); }).starts_with("a.mo: "))
        << length;
}

TEST(Catalog, SourceWithEverythingThatIsAllowed) {
  const char* const text = R"po(# A comment
msgid ""
msgstr ""
"Project-Id-Version: x\n"
"Content-Type: text/plain; charset=UTF-8\n"

#. for translators
#: main.c:12
msgctxt "menu"
msgid "Open"
msgstr "Öffnen"

#, c-format, fuzzy
msgid "Guess"
msgstr "Geraten"

#, c-format
#| msgid "previous"
msgid ""
"A \"long\" "
"text\twith\n"
"escapes \x41\102 \\n"
msgstr "Ein \"langer\" Text"

msgid "%d file"
msgid_plural "%d files"
msgstr[0] "%d Datei"
msgstr[1] "%d Dateien"

msgid "Missing"
msgstr ""

#~ msgid "Old"
#~ msgstr "Alt"
msgid "Last"
msgstr "Letzte")po";
  EXPECT_EQ(all_pairs(read_source_catalog(text, "a.po")),
            (Pairs{{"Open", "Öffnen"},
                   {"A \"long\" text\twith\nescapes AB \\n", "Ein \"langer\" Text"},
                   {"%d file", "%d Datei"},
                   {"%d files", "%d Dateien"},
                   {"Last", "Letzte"}}));
}

TEST(Catalog, DamagedSourcesAreErrorsWithTheirLine) {
  const auto message = [](std::string_view text) { return message_of([&] { read_source_catalog(text, "a.po"); }); };
  EXPECT_EQ(message("msgid \"a\"\nmsgstr \"b\nmsgid \"c\""), "a.po: line 2: a string without its closing quote");
  EXPECT_EQ(message("\"a\""), "a.po: line 1: a string that belongs to nothing");
  EXPECT_EQ(message("\n\nhello"), "a.po: line 3: neither a comment, a string nor a keyword of gettext");
  EXPECT_EQ(message("msgstr \"a\""), "a.po: line 1: msgstr without a msgid before it");
  EXPECT_EQ(message("msgid_plural \"a\""), "a.po: line 1: msgid_plural without a msgid before it");
  EXPECT_EQ(message("msgid \"a\"\nmsgstr[1] \"b\""), "a.po: line 2: plural forms that are not numbered in order");
  EXPECT_EQ(message("msgid"), "a.po: line 1: a keyword without a string");
  EXPECT_EQ(message("msgid \"a\\q\""), "a.po: line 1: an escape that means nothing");
  EXPECT_EQ(message("msgid \"a\\\""), "a.po: line 1: a string without its closing quote");
  EXPECT_EQ(message("msgid \"a\"b\""), "a.po: line 1: a quote within a string");
  EXPECT_EQ(message("msgid \""), "a.po: line 1: a string without its closing quote");
}

TEST(Catalog, PluralFormsPairWithTheOriginals) {
  EXPECT_EQ(pairs_of({"one", "many", {"a", "b", "c"}}), (Pairs{{"one", "a"}, {"many", "c"}}));
  EXPECT_EQ(pairs_of({"one", "many", {"a"}}), (Pairs{{"many", "a"}}));
}

TEST(Catalog, MarksOfShortcutsGoNamesStay) {
  EXPECT_EQ(pairs_of({"_Open", "", {"Ö_ffnen"}}), (Pairs{{"Open", "Öffnen"}}));
  EXPECT_EQ(pairs_of({"Save &as", "", {"Speichern &unter"}}), (Pairs{{"Save as", "Speichern unter"}}));
  EXPECT_EQ(pairs_of({"~OK", "", {"~OK"}}), (Pairs{{"OK", "OK"}}));
  EXPECT_EQ(pairs_of({"Bad file_name", "", {"file_name falsch"}}), (Pairs{{"Bad file_name", "file_name falsch"}}));
  EXPECT_EQ(pairs_of({"A & B", "", {"A & B!"}}), (Pairs{{"A & B", "A & B!"}}));
}

TEST(Catalog, FoldersAreSearchedForTheLanguage) {
  const TemporaryFolder folder;
  const auto put = [&](const std::string& name, const std::string& bytes) {
    const std::filesystem::path path = folder.path() / name;
    std::filesystem::create_directories(path.parent_path());
    std::ofstream(path, std::ios::binary) << bytes;
    return path;
  };
  const auto a = put("de/LC_MESSAGES/a.mo", compiled(kMessages)), b = put("po/de.po", "msgid \"x\"\nmsgstr \"y\"\n"),
             c = put("tool_de.po", "");
  const auto other = put("fr/LC_MESSAGES/a.mo", compiled(kMessages));
  put("de/readme.txt", "");
  put("node.po", "");
  const std::string root = folder.path().string();
  EXPECT_EQ(find_catalogs({root}, "de"), (std::vector<std::filesystem::path>{a, b, c}));
  EXPECT_EQ(find_catalogs({other.string()}, "de"), std::vector<std::filesystem::path>{other});  // named, so taken
  EXPECT_EQ(all_pairs(read_catalog(a)).size(), 4U);
  EXPECT_EQ(all_pairs(read_catalog(b)), (Pairs{{"x", "y"}}));
  EXPECT_NE(message_of([&] { find_catalogs({root + "/none"}, "de"); }).find("cannot look into it"), std::string::npos);
}

}  // namespace
}  // namespace heed
