#include "heed/data/vocabulary.h"

#include "heed/base/error.h"
#include "heed/data/subwords.h"
#include "heed/data/text_file.h"
#include "heed/data/words.h"

namespace heed {
std::shared_ptr<const Vocabulary> load_vocabulary(const std::filesystem::path& path) {
  const std::string name = path.string(), ending = path.extension().string();
  if (ending == ".spm" || ending == ".model") return subwords_from(read_unpacked(name), name);
  if (ending == ".txt") return words_from(read_unpacked(name), name, cutting_of(name));
  fail("{}: the ending {} is that of no vocabulary; known are .spm and .model (SentencePiece) and .txt (words)", name,
       ending.empty() ? "\"\"" : ending);
}

}  // namespace heed
