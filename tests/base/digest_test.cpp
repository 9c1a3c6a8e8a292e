#include "heed/base/digest.h"

#include <gtest/gtest.h>

#include <fstream>

#include "heed/base/file.h"
#include "support/messages.h"
#include "support/temporary_folder.h"

namespace heed {
namespace {

using test::message_of;

std::string digest_of(std::string_view text) {
  Digest digest;
  digest.add(std::as_bytes(std::span(text)));
  return digest.text();
}

TEST(Digest, IsXxh3OfAllBytes) {
  EXPECT_EQ(digest_of(""), "99aa06d3014798d86001c324468d497f");  // of xxHash's own tests
  Digest parts;
  for (const std::string_view part : {"he", "", "ed"}) parts.add(std::as_bytes(std::span(part)));
  EXPECT_EQ(parts.text(), digest_of("heed"));
  EXPECT_NE(digest_of("heed"), digest_of("Heed"));
}

TEST(Digest, OfAFileIsThatOfItsBytes) {
  const TemporaryFolder folder;
  write_file(folder.path() / "a", "heed");
  EXPECT_EQ(digest_of_file(folder.path() / "a"), digest_of("heed"));
  EXPECT_NE(message_of([&] { digest_of_file(folder.path() / "none"); }).find("cannot open it"), std::string::npos);
  EXPECT_NE(message_of([] { digest_of_file("/dev/null"); }).find("it is not a regular file"), std::string::npos);
}

// One byte beyond what is read whole. Almost all of it is a hole.
TEST(Digest, OfALargeFileIsThatOfItsBlocks) {
  const TemporaryFolder folder;
  const std::filesystem::path file = folder.path() / "large";
  std::ofstream(file) << "begin";
  std::filesystem::resize_file(file, kDigestedWhole + 5'000'000);
  const auto put = [&](std::uint64_t at, char c) {
    std::fstream out(file, std::ios::in | std::ios::out | std::ios::binary);
    out.seekp(static_cast<std::streamoff>(at));
    out.put(c);
  };
  const FileState before = state_of_file(file, false), all = state_of_file(file, true);
  EXPECT_TRUE(before.sampled);
  EXPECT_FALSE(all.sampled);
  EXPECT_EQ(before.bytes, kDigestedWhole + 5'000'000);
  for (const std::uint64_t at : {std::uint64_t{0}, before.bytes - 1}) {  // the first and the last byte are looked at
    put(at, 'x');
    EXPECT_NE(state_of_file(file, false).digest, before.digest);
    put(at, at == 0 ? 'b' : '\0');
    EXPECT_EQ(state_of_file(file, false).digest, before.digest);
  }
  put(66'000, 'x');  // between the first block and the second
  EXPECT_EQ(state_of_file(file, false).digest, before.digest);
  EXPECT_NE(state_of_file(file, true).digest, all.digest);
}

TEST(Digest, OfAFolderIsThatOfItsNamesAndSizes) {
  const TemporaryFolder folder;
  std::filesystem::create_directory(folder.path() / "b");
  write_file(folder.path() / "b" / "c", "heed");
  const FileState names = state_of_file(folder.path(), false), all = state_of_file(folder.path(), true);
  EXPECT_EQ(names.bytes, 4u);
  write_file(folder.path() / "b" / "c", "Heed");
  EXPECT_EQ(state_of_file(folder.path(), false).digest, names.digest);
  EXPECT_NE(state_of_file(folder.path(), true).digest, all.digest);
  write_file(folder.path() / "d", "");
  EXPECT_NE(state_of_file(folder.path(), false).digest, names.digest);
}

}  // namespace
}  // namespace heed
