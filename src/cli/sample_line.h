#pragma once

#include <string>
#include <vector>

#include "heed/jobs/job.h"

namespace heed::cli {

// A sample as a person gives it in one line: the inputs with tabs between, behind them the prefix if there is to be
// one, or what can be chosen as "choice|choice|...". Of several texts it may be an object of JSON, with "choices" if
// there are any. What does not fit, such as an empty text by which a label is to be chosen, is an Error that names the
// place
// ("pairs.txt, line 3").
Sample sample_of_line(const Job& job, const std::string& line, const std::string& place, std::string* prefix = nullptr);

// "choice|choice|..."; none of an empty text.
std::vector<std::string> choices_of(const std::string& text);

}  // namespace heed::cli
