#include "heed/data/archive.h"

#include <gtest/gtest.h>

#include "heed/base/file.h"
#include "support/messages.h"
#include "support/packing.h"
#include "support/temporary_folder.h"

namespace heed::test {
namespace {

// A header block with its sum.
std::string header(const std::string& name, std::size_t size, char type = '0', const std::string& prefix = "") {
  std::string block(512, '\0');
  block.replace(0, name.size(), name);
  block.replace(124, 11, fmt::format("{:011o}", size));
  block.replace(148, 8, "        ");
  block[156] = type;
  block.replace(257, 8, std::string("ustar\0", 6) + "00");
  block.replace(345, prefix.size(), prefix);
  std::size_t sum = 0;
  for (const char c : block) sum += static_cast<unsigned char>(c);
  block.replace(148, 7, fmt::format("{:06o}", sum) + '\0');
  return block;
}
std::string member(const std::string& name, const std::string& body, char type = '0', const std::string& prefix = "") {
  return header(name, body.size(), type, prefix) + body + std::string((512 - body.size() % 512) % 512, '\0');
}
const std::string kEndOfTar(1024, '\0');

TEST(Tar, ListsFilesUnderAllTheirNames) {
  const std::string far(150, 'f');
  const std::string tar = member("./a.jpg", "one") + member("folder/", "", '5') + member("b", "two", '0', "deep/er") +
                          member("././@LongLink", far + '\0', 'L') + member("cut", "three") +
                          member("pax", "17 path=long.png\n", 'x') + member("short", "four") + member("link", "", '2') +
                          member("empty", "") + kEndOfTar;
  const std::vector<TarMember> found = tar_members(tar, "x.tar");
  ASSERT_EQ(found.size(), 5u);
  const auto body = [&](std::size_t i) { return tar.substr(found[i].offset, found[i].size); };
  EXPECT_EQ(found[0].name + "=" + body(0), "a.jpg=one");
  EXPECT_EQ(found[1].name + "=" + body(1), "deep/er/b=two");
  EXPECT_EQ(found[2].name + "=" + body(2), far + "=three");
  EXPECT_EQ(found[3].name + "=" + body(3), "long.png=four");
  EXPECT_EQ(found[4].name + "=" + body(4), "empty=");
}

TEST(Tar, SaysWhatIsWrong) {
  std::string damaged = member("a", "one") + kEndOfTar;
  damaged[0] = 'b';
  EXPECT_EQ(message_of([&] { tar_members(damaged, "x.tar"); }),
            "x.tar: it is no tar, or its header at byte 0 is damaged");
  const std::string cut = header("a", 5000) + "one";
  EXPECT_EQ(message_of([&] { tar_members(cut, "x.tar"); }), "x.tar: it is cut off inside the member at byte 0");
  EXPECT_TRUE(tar_members("", "x.tar").empty());
}

TEST(Archive, IsAFolderOnThePath) {
  const TemporaryFolder folder;
  const std::string tar = member("a.jpg", "one") + member("in/b.jpg", "two") + kEndOfTar;
  write_file(folder.path() / "plain.tar", tar);
  write_file(folder.path() / "packed.tar.gz", gzipped(tar));
  write_file(folder.path() / "packed.tar.zst", zstd_packed(tar));
  for (const char* name : {"plain.tar", "packed.tar.gz", "packed.tar.zst"}) {
    EXPECT_EQ(read_file_or_member(folder.path() / name / "a.jpg", 100), "one");
    EXPECT_EQ(read_file_or_member(folder.path() / name / "in" / "b.jpg", 100), "two");
    EXPECT_EQ(message_of([&] { read_file_or_member(folder.path() / name / "c.jpg", 100); }),
              (folder.path() / name).string() + ": there is no c.jpg in it");
    EXPECT_NE(message_of([&] { read_file_or_member(folder.path() / name / "a.jpg", 2); }).find("more than 2 bytes"),
              std::string::npos);
  }
  write_file(folder.path() / "c.jpg", "three");
  EXPECT_EQ(read_file_or_member(folder.path() / "c.jpg", 100), "three");
  EXPECT_NE(message_of([&] { read_file_or_member(folder.path() / "d.jpg", 100); }), "");
  EXPECT_NE(message_of([&] { read_file_or_member(folder.path() / "c.jpg" / "d.jpg", 100); }), "");
}

}  // namespace
}  // namespace heed::test
