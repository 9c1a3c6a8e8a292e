#pragma once

#include <map>
#include <string>

#include "heed/base/fields.h"

namespace heed {

// Fields as one JSON object, a line each, in the order of the visit; `indent` spaces before each name.
std::string fields_json(const VisitFields& visit, int indent = 2);

// The names and values in a file of options: a JSON object, or YAML ("name: value", # comments). Lists become their
// items joined by spaces; nothing may be nested deeper. `file` leads the errors.
std::map<std::string, std::string> read_options(const std::string& text, const std::string& file);

}  // namespace heed
