#pragma once

#include <functional>
#include <map>
#include <set>
#include <string>

#include "engine/case.h"

// Cases that differ only in their sizes are a family: "dot,n=512,causal=1" is the family's name and what it is told.
// The peers read the same names.

namespace heed::bench {

class Settings {
 public:
  explicit Settings(const std::string& name);

  const std::string& family() const { return family_; }
  Index number(const std::string& key, Index otherwise);
  double real(const std::string& key, double otherwise);
  std::string word(const std::string& key, const std::string& otherwise);
  // An Error if something was said that nobody asked for.
  void check_all_read() const;

 private:
  std::string family_;
  std::map<std::string, std::string> said_;
  std::set<std::string> read_;
};

// Makes the data of a case of the family.
using PrepareFamily = std::function<Step(Settings&)>;
std::map<std::string, PrepareFamily>& families();

struct Family {
  Family(const std::string& name, PrepareFamily prepare) { families()[name] = std::move(prepare); }
};

// The step of a name with settings.
Step family_step(const std::string& name);

}  // namespace heed::bench
