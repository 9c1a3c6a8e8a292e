#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace heed {

// Calls `use` with each line of the files that a vocabulary can learn from: valid UTF-8, and if `column` >= 0 only that
// column. Files in which there is nothing at all are an Error that starts with [who].
void for_each_training_line(const std::vector<std::string>& files, int column, std::string_view who,
                            const std::function<void(std::string_view)>& use);

}  // namespace heed
