#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "heed/jobs/bundle.h"

namespace heed::test {

// A model that is small enough to be run in any test, and what it needs to be run.
struct TinyBundle {
  std::string system;
  std::string job = {};                              // empty: the one that the system was published for
  std::map<std::string, std::string> settings = {};  // fields that differ from those of tiny_config
  // What the vocabularies learn from: a text for each side of words, or one for all of them, which then share it.
  std::vector<std::string> texts = {
      "the cat sleeps near the old house\nwe walk to the house of cats\nthe größe of 猫 and the river bank\n"};
  bool subwords = false;
  std::vector<std::string> labels = {};  // of a job that gives one
  double deviation = 0.4;                // of all weights; 0: as they are at the beginning of a training
  std::uint64_t seed = 5;
};
Bundle make_tiny(const TinyBundle& tiny);
// The same in a folder.
std::filesystem::path make_tiny_folder(const std::filesystem::path& folder, const TinyBundle& tiny);

// A corpus of five pairs, its two sides line by line.
inline constexpr const char* kFiveSources = "a b c\nb c\nc a a b\na\nb b\n";
inline constexpr const char* kFiveTargets = "x y z\ny z\nz x x\nx\ny y x\n";
// Samples of one text each.
std::vector<Sample> samples_of(const std::vector<std::string>& texts);

}  // namespace heed::test
