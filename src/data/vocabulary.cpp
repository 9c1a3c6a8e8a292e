#include "heed/data/vocabulary.h"

#include "heed/base/error.h"
#include "heed/data/subwords.h"
#include "heed/data/text_file.h"
#include "heed/data/words.h"

namespace heed {
namespace {

constexpr std::size_t kMostBytes = std::size_t{1} << 30;

std::string all_bytes(const std::string& path) {
  ByteReader reader(path);
  std::string bytes;
  std::vector<char> chunk(std::size_t{1} << 16);
  while (const std::size_t count = reader.read(chunk)) {
    bytes.append(chunk.data(), count);
    require(bytes.size() <= kMostBytes, "{}: it has more than the {} bytes allowed", path, kMostBytes);
  }
  return bytes;
}

}  // namespace

std::shared_ptr<const Vocabulary> load_vocabulary(const std::filesystem::path& path) {
  const std::string name = path.string(), ending = path.extension().string();
  if (ending == ".spm" || ending == ".model") return subwords_from(all_bytes(name), name);
  if (ending == ".txt") return words_from(all_bytes(name), name);
  fail("{}: the ending {} is that of no vocabulary; known are .spm and .model (SentencePiece) and .txt (words)", name,
       ending.empty() ? "\"\"" : ending);
}

}  // namespace heed
