#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <regex>
#include <string>
#include <string_view>
#include <vector>

// Holds the direction of dependency: a file includes only from its own room or from rooms above it in the list, which
// is the table of ARCHITECTURE.md. Only the kernels know oneDNN and Highway, and a header that is installed needs
// nothing but the standard library and fmt.

namespace heed {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kRooms[] = {"base",  "tensor",  "kernels", "autograd", "nn",    "attention", "data",
                                       "align", "search",  "models",  "metrics",  "store", "train",     "mpi",
                                       "trace", "explain", "jobs",    "serve",    "cli"};

// The place of a room in the list; past its end for a folder that is none.
std::ptrdiff_t place(const std::string& room) {
  return std::distance(std::begin(kRooms), std::find(std::begin(kRooms), std::end(kRooms), room));
}
bool is_room(const std::string& name) { return place(name) < std::ssize(kRooms); }

// What is wrong with one include of a file that lives in `room`; empty if nothing is.
std::string fault_of(const fs::path& file, const std::string& room, const std::string& included, bool quoted) {
  static const std::regex of_heed("heed/([^/]+)/.+");
  std::smatch match;
  if (std::regex_match(included, match, of_heed)) {
    const std::string from = match[1];
    if (!is_room(from)) return from + " is not a room";
    return place(from) <= place(room) ? "" : room + " may not include " + from;
  }
  if (quoted) return "write heed/room/file.h";
  if (included.starts_with("oneapi/") || included.starts_with("dnnl") || included.starts_with("hwy/"))
    return room == "kernels" ? "" : "only kernels may include oneDNN and Highway";
  const std::string name = file.filename().string();
  const bool installed = name.ends_with(".h") && !name.ends_with("-inl.h") && room != "cli";
  const bool foreign = included.find_first_of("./") != std::string::npos && !included.starts_with("fmt/");
  return installed && foreign ? "an installed header may include only the standard library and fmt" : "";
}

// "room/file.h:3: included: what is wrong" for every fault below `source`.
std::vector<std::string> include_faults(const fs::path& source) {
  static const std::regex include(R"(^\s*#\s*include\s*([<"])([^>"]+)[>"].*)");
  std::vector<std::string> faults;
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(source)) {
    const fs::path file = entry.path().lexically_relative(source);
    if (file.extension() != ".h" && file.extension() != ".cpp") continue;
    const std::string room = file.begin()->string();
    if (!is_room(room)) {
      faults.push_back(file.string() + ": " + room + " is not a room");
      continue;
    }
    std::ifstream text(entry.path());
    std::string line;
    for (int number = 1; std::getline(text, line); ++number) {
      std::smatch match;
      if (!std::regex_match(line, match, include)) continue;
      const std::string fault = fault_of(file, room, match[2], match[1] == "\"");
      if (!fault.empty())
        faults.push_back(file.string() + ":" + std::to_string(number) + ": " + match[2].str() + ": " + fault);
    }
  }
  std::sort(faults.begin(), faults.end());
  return faults;
}

TEST(Includes, FollowTheRooms) {
  const fs::path source = fs::path(HEED_SOURCE_DIR) / "src";
  ASSERT_TRUE(fs::exists(source / "base" / "error.h"));
  EXPECT_EQ(include_faults(source), std::vector<std::string>{});
}

// The checker itself, on trees made up for it.
class MadeUpTree : public testing::Test {
 protected:
  MadeUpTree() {
    fs::remove_all(source_);
    write("base/error.h", "#include <fmt/format.h>\n#include <string>\n");
    write("kernels/gemm.cpp", "#include \"heed/kernels/gemm.h\"\n\n#include <oneapi/dnnl/dnnl.h>\n");
    write("kernels/simd-inl.h", "#include <hwy/highway.h>\n#include \"heed/base/error.h\"\n");
    write("store/model_folder.cpp", "#include <nlohmann/json.hpp>\n#include <sys/mman.h>\n");
    write("cli/options.h", "#include <CLI/CLI.hpp>\n#include \"heed/serve/server.h\"\n");
  }
  ~MadeUpTree() override { fs::remove_all(source_); }

  void write(const fs::path& file, const std::string& text) {
    fs::create_directories((source_ / file).parent_path());
    std::ofstream(source_ / file) << text;
  }
  std::vector<std::string> faults() const { return include_faults(source_); }

 private:
  // One for each test: they may run at the same time.
  fs::path source_ = fs::path(testing::TempDir()) /
                     ("heed_includes_" + std::string(testing::UnitTest::GetInstance()->current_test_info()->name()));
};
using Faults = std::vector<std::string>;

TEST_F(MadeUpTree, WithoutFaultPasses) { EXPECT_EQ(faults(), Faults{}); }

TEST_F(MadeUpTree, IncludeFromBelowIsFound) {
  write("tensor/shape.h", "#pragma once\n\n#include \"heed/autograd/var.h\"\n");
  write("data/batch.cpp", "#  include <heed/train/loop.h>  // angle brackets do not hide it\n");
  EXPECT_EQ(faults(), (Faults{"data/batch.cpp:1: heed/train/loop.h: data may not include train",
                              "tensor/shape.h:3: heed/autograd/var.h: tensor may not include autograd"}));
}

TEST_F(MadeUpTree, EngineLibrariesOutsideTheKernelsAreFound) {
  write("nn/linear.cpp", "#include <oneapi/dnnl/dnnl.hpp>\n#include <hwy/highway.h>\n");
  EXPECT_EQ(faults(), (Faults{"nn/linear.cpp:1: oneapi/dnnl/dnnl.hpp: only kernels may include oneDNN and Highway",
                              "nn/linear.cpp:2: hwy/highway.h: only kernels may include oneDNN and Highway"}));
}

TEST_F(MadeUpTree, InstalledHeaderThatNeedsMoreThanFmtIsFound) {
  write("store/model_folder.h", "#include <nlohmann/json.hpp>\n");
  EXPECT_EQ(faults(), (Faults{"store/model_folder.h:1: nlohmann/json.hpp: an installed header may include only the "
                              "standard library and fmt"}));
}

TEST_F(MadeUpTree, UnknownRoomsAndRelativeIncludesAreFound) {
  write("attic/old.h", "");
  write("nn/norm.cpp", "#include \"norm.h\"\n#include \"heed/attic/old.h\"\n");
  EXPECT_EQ(faults(), (Faults{"attic/old.h: attic is not a room", "nn/norm.cpp:1: norm.h: write heed/room/file.h",
                              "nn/norm.cpp:2: heed/attic/old.h: attic is not a room"}));
}

}  // namespace
}  // namespace heed
