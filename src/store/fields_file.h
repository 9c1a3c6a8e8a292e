#pragma once

#include <map>
#include <string>

#include "heed/base/fields.h"

namespace heed {

// Fields as one JSON object, a line each, in the order of the visit; `indent` spaces before each name.
std::string fields_json(const VisitFields& visit, int indent = 2);

// The names and values in a file of options: a JSON object, or lines "name: value" with # comments, where a value may
// stand in quotes. Lists ([a, b] or, in lines, "- a") become their items joined by spaces. `file` leads the errors.
std::map<std::string, std::string> read_options(const std::string& text, const std::string& file);

}  // namespace heed
