#pragma once

#include <map>
#include <string>
#include <vector>

#include "heed/models/system.h"

// Systems at a tiny size, in the variants that their options allow.

namespace heed::test {

struct SystemVariant {
  std::string system;
  std::map<std::string, std::string> settings;  // fields that differ from the tiny defaults

  std::string text() const;
  std::string name() const;  // the text as a test may be called
};
std::ostream& operator<<(std::ostream& out, const SystemVariant& variant);

// Shrinks the widths of a configuration, turns dropout off and sets what the variant says; a field that is not there is
// an Error.
void make_tiny(Config& config, const SystemVariant& variant, Index width);
// Whether the system has the field.
bool has_field(const System& system, const std::string& name);
// The system with each part of attention in its turn.
void add_parts(const std::string& system, std::vector<SystemVariant>& list);

}  // namespace heed::test
