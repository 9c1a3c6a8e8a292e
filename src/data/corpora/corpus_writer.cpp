#include "heed/data/corpora/corpus_writer.h"

#include <algorithm>
#include <array>
#include <deque>
#include <unordered_set>
#include <vector>

#include "heed/base/error.h"
#include "heed/base/file.h"
#include "heed/base/random.h"
#include "heed/data/text_file.h"
#include "heed/base/utf8.h"

namespace heed {
namespace {

constexpr std::array<std::string_view, 3> kParts{"train", "valid", "test"};

std::string with_single_spaces(std::string_view text) { return fmt::format("{}", fmt::join(words_of_line(text), " ")); }

// A letter of ASCII, or anything beyond it.
bool has_letter(std::string_view text) {
  return std::any_of(text.begin(), text.end(), [](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return byte >= 0x80 || (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z');
  });
}

bool usable(std::string_view text) {
  return text.size() <= CorpusWriter::kLongestSegment && has_letter(text) && valid_utf8(text) &&
         std::none_of(text.begin(), text.end(), [](char c) { return static_cast<unsigned char>(c) < 0x20; });
}

}  // namespace

std::string CorpusCounts::text() const {
  return fmt::format(
      "{} pairs for training, {} for validation, {} for the test; left out: {} repeated, {} the same on "
      "both sides, {} unusable",
      train, valid, test, repeated, identical, unusable);
}

struct CorpusWriter::Files {
  CorpusOptions options;
  CorpusCounts counts;
  std::deque<AtomicFile> files;            // for each part: source, target and, if wanted, alignments
  std::unordered_set<std::uint64_t> seen;  // hashes of the sources

  std::size_t kinds() const { return options.alignments ? 3 : 2; }
  std::vector<std::filesystem::path> paths() const {
    std::vector<std::filesystem::path> all;
    for (const std::string_view part : kParts) {
      all.push_back(options.folder / fmt::format("{}.{}", part, options.source));
      all.push_back(options.folder / fmt::format("{}.{}", part, options.target));
      if (options.alignments) all.push_back(options.folder / fmt::format("{}.align", part));
    }
    return all;
  }
};

CorpusWriter::CorpusWriter(CorpusOptions options) : files_(std::make_unique<Files>()) {
  require(!options.source.empty() && !options.target.empty() && options.source != options.target,
          "[corpus] the two languages need different names, not \"{}\" and \"{}\"", options.source, options.target);
  require(options.valid >= 0 && options.test >= 0 && options.valid + options.test < 1,
          "[corpus] shares of {} and {} for validation and test leave nothing for training", options.valid,
          options.test);
  files_->options = std::move(options);
  const std::vector<std::filesystem::path> paths = files_->paths();
  for (const std::filesystem::path& path : paths)
    require(files_->options.force || !std::filesystem::exists(path), "{}: it is there already; --force replaces it",
            path.string());
  std::error_code reason;
  std::filesystem::create_directories(files_->options.folder, reason);
  require(!reason, "{}: cannot make the folder: {}", files_->options.folder.string(), reason.message());
  for (const std::filesystem::path& path : paths) files_->files.emplace_back(path);
}
CorpusWriter::~CorpusWriter() = default;

void CorpusWriter::add(std::string_view source_text, std::string_view target_text, std::string_view links) {
  const std::string source = with_single_spaces(source_text), target = with_single_spaces(target_text);
  CorpusCounts& counts = files_->counts;
  if (!usable(source) || !usable(target)) {
    ++counts.unusable;
    return;
  }
  if (source == target) {
    ++counts.identical;
    return;
  }
  const std::uint64_t hash = RandomKey{}.derive(source).stream;
  if (!files_->seen.insert(hash).second) {
    ++counts.repeated;
    return;
  }
  const CorpusOptions& options = files_->options;
  const double place = RandomSequence(RandomKey{options.seed, hash}).uniform();
  const std::size_t part = place < options.valid ? 1 : place < options.valid + options.test ? 2 : 0;
  ++(part == 0 ? counts.train : part == 1 ? counts.valid : counts.test);
  const auto write = [&](std::size_t kind, std::string_view text) {
    AtomicFile& file = files_->files[part * files_->kinds() + kind];
    file.write(text);
    file.write("\n");
  };
  write(0, source);
  write(1, target);
  if (options.alignments) write(2, links);
}

const CorpusCounts& CorpusWriter::counts() const { return files_->counts; }

const CorpusCounts& CorpusWriter::finish() {
  require(files_->counts.train > 0, "[corpus] there is nothing to train on: {}", files_->counts.text());
  for (AtomicFile& file : files_->files) file.commit();
  return files_->counts;
}

}  // namespace heed
