#include "heed/store/folder_digests.h"

#include <gtest/gtest.h>

#include "heed/base/error.h"
#include "support/messages.h"
#include "support/temporary_folder.h"

namespace heed {
namespace {

namespace fs = std::filesystem;
using test::message_of;

struct Killed {};

class FolderDigestsTest : public testing::Test {
 protected:
  fs::path file(const std::string& name) const { return folder_.path() / name; }
  void put(const std::string& text, bool killed_before_rename = false, bool killed_after = false) const {
    try {
      digests_.replace("a", [&](const AtomicFile::BeforeRename& before) {
        AtomicFile written(file("a"));
        written.write(text);
        written.commit([&](const std::string& digest) {
          before(digest);
          if (killed_before_rename) throw Killed();
        });
        if (killed_after) throw Killed();
      });
    } catch (const Killed&) {
    }
  }
  // "name: fault (unfinished)" of each file.
  std::vector<std::string> found() const {
    std::vector<std::string> all;
    for (const FolderDigests::Finding& each : digests_.findings())
      all.push_back(fmt::format("{}: {}{}", each.name, each.listed ? each.fault : "unlisted",
                                each.unfinished ? "(unfinished)" : ""));
    return all;
  }
  using Found = std::vector<std::string>;

  TemporaryFolder folder_;
  FolderDigests digests_{folder_.path()};
};

TEST_F(FolderDigestsTest, AFileIsKnownWhereverItsWriterIsKilled) {
  put("first", true);
  EXPECT_FALSE(fs::exists(file("a")));
  EXPECT_EQ(found(), Found{"a: (unfinished)"});
  put("first", false, true);
  EXPECT_EQ(found(), Found{"a: (unfinished)"});
  put("first");
  EXPECT_EQ(found(), Found{"a: "});
  put("second", true);
  EXPECT_EQ(read_file(file("a")), "first");
  EXPECT_EQ(found(), Found{"a: (unfinished)"});
  put("third", true);
  digests_.check("a");
  put("third", false, true);
  EXPECT_EQ(read_file(file("a")), "third");
  EXPECT_EQ(found(), Found{"a: (unfinished)"});
  put("third");
  EXPECT_EQ(found(), Found{"a: "});
  digests_.check("a");
}

TEST_F(FolderDigestsTest, DamageIsNamed) {
  put("first");
  write_file(file("a"), "firsT");
  EXPECT_EQ(found(), Found{"a: it is not what was written"});
  EXPECT_TRUE(
      message_of([&] { digests_.check("a"); }).starts_with(file("a").string() + ": it is not what was written"));
  fs::remove(file("a"));
  write_file(file("b"), "");
  EXPECT_EQ(found(), (Found{"a: it is missing", "b: unlisted"}));
  digests_.check("b");  // nothing is known of it
}

TEST_F(FolderDigestsTest, AFileOfAnOlderFolderIsKnownFromItsReplacementOn) {
  write_file(file("a"), "old");
  put("new", true);
  EXPECT_EQ(found(), Found{"a: (unfinished)"});
  put("new");
  EXPECT_EQ(found(), Found{"a: "});
}

TEST_F(FolderDigestsTest, AListThatIsNoneIsAnError) {
  const std::string name = file("digests.json").string();
  for (const char* text :
       {"[]", "{}", R"({"hash": "XXH3-128", "files": {"a": []}})", R"({"hash": "XXH3-128", "files": {"a": [1]}})",
        R"({"hash": "XXH3-128", "files": {"../a": ["00"]}})",
        R"({"hash": "XXH3-128", "files": {"/etc/hostname": ["00"]}})"}) {
    write_file(name, text);
    EXPECT_EQ(message_of([&] { digests_.names(); }), name + ": it is damaged: it is no list of digests") << text;
  }
  write_file(name, R"({"hash": "MD5", "files": {}})");
  EXPECT_EQ(message_of([&] { digests_.names(); }), name + ": its digests are of another kind than XXH3-128");
}

}  // namespace
}  // namespace heed
