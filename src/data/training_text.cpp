#include "heed/data/training_text.h"

#include "heed/base/error.h"
#include "heed/data/text_file.h"
#include "heed/base/utf8.h"

namespace heed {

void for_each_training_line(const std::vector<std::string>& files, int column, std::string_view who,
                            const std::function<void(std::string_view)>& use) {
  require(!files.empty(), "[{}] no file to learn from", who);
  bool used = false;
  for (const std::string& file : files) {
    LineReader reader(file);
    for (std::string line; reader.next(line);) {
      if (!valid_utf8(line)) continue;
      std::string_view text = line;
      if (column >= 0) {
        const std::vector<std::string_view> columns = columns_of_line(line);
        if (static_cast<std::size_t>(column) >= columns.size()) continue;
        text = columns[static_cast<std::size_t>(column)];
      }
      if (text.empty()) continue;
      use(text);
      used = true;
    }
  }
  require(used, "[{}] there is no text to learn from in {}{}", who, files.front(),
          files.size() > 1 ? fmt::format(" and {} more", files.size() - 1) : "");
}

}  // namespace heed
