#pragma once

#include <string>

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

}  // namespace heed
