#pragma once

#include <functional>
#include <string>
#include <vector>

#include "heed/base/real.h"

namespace heed {

// Walks over the fields of a configuration, each with its name and one line of help. Flags, files and descriptions are
// made by such a walk, so that a field is listed in one place: the configuration's own `visit`.
class Fields {
 public:
  virtual ~Fields() = default;
  virtual void operator()(const char* name, Index& value, const char* help) = 0;
  virtual void operator()(const char* name, double& value, const char* help) = 0;
  virtual void operator()(const char* name, bool& value, const char* help) = 0;
  virtual void operator()(const char* name, std::string& value, const char* help) = 0;
};

// Calls the `visit` of some configuration.
using VisitFields = std::function<void(Fields&)>;

struct FieldDescription {
  enum class Kind { whole, real, truth, text };
  std::string name, help;
  Kind kind;
  std::string value;  // as set_field reads it back, exactly
};
std::vector<FieldDescription> describe_fields(const VisitFields& visit);

// Sets the field of that name from text; false if there is none. In names - and _ are the same. Text that is no such
// value is an Error that leads with `who`.
bool set_field(const VisitFields& visit, const std::string& name, const std::string& text, const std::string& who);

// The name as flags spell it, with - for _.
std::string flag_name(std::string name);

}  // namespace heed
