#include "models/variant_cases.h"

#include <fmt/ranges.h>

#include <cctype>
#include <optional>
#include <ostream>
#include <set>

#include "heed/attention/parts.h"

namespace heed::test {
namespace {

class FieldNames final : public Fields {
 public:
  std::set<std::string> names;
  void operator()(const char* name, Index&, const char*) override { names.insert(name); }
  void operator()(const char* name, double&, const char*) override { names.insert(name); }
  void operator()(const char* name, bool&, const char*) override { names.insert(name); }
  void operator()(const char* name, std::string&, const char*) override { names.insert(name); }
};

// Fields by name; every setting must be there.
class Setting final : public Fields {
 public:
  Setting(std::map<std::string, std::string> settings, Index width) : settings_(std::move(settings)), width_(width) {}
  void operator()(const char* name, Index& value, const char*) override {
    static const std::map<std::string, Index> tiny{
        {"feed-forward", 5}, {"layers", 2},       {"decoder-layers", 2}, {"heads", 2},    {"rank", 3},
        {"longest", 9},      {"half-width", 2},   {"filters", 2},        {"relative", 2}, {"neighbours", 3},
        {"score-width", 3},  {"filter-width", 3}, {"layer", 6},          {"gated", 2},    {"rows", 2},
        {"buckets", 4},      {"halvings", 1},     {"masks", 0}};
    for (const char* wide : {"embedding", "hidden", "maxout", "width"})
      if (std::string(name) == wide) value = width_;
    if (const auto small = tiny.find(name); small != tiny.end()) value = small->second;
    if (const auto text = take(name)) value = std::stoll(*text);
  }
  void operator()(const char* name, double& value, const char*) override {
    if (std::string(name) == "dropout") value = 0;
    if (const auto text = take(name)) value = std::stod(*text);
  }
  void operator()(const char* name, bool& value, const char*) override {
    if (const auto text = take(name)) value = *text == "true";
  }
  void operator()(const char* name, std::string& value, const char*) override {
    if (const auto text = take(name)) value = *text;
  }
  void finish(const std::string& system) const {
    require(settings_.empty(), "[test] {} has no field {}", system, settings_.begin()->first);
  }

 private:
  std::optional<std::string> take(const char* name) {
    const auto found = settings_.find(name);
    if (found == settings_.end()) return {};
    std::string text = found->second;
    settings_.erase(found);
    return text;
  }
  std::map<std::string, std::string> settings_;
  Index width_;
};

}  // namespace

std::string SystemVariant::text() const {
  std::string result = system;
  for (const auto& [name, value] : settings) result += fmt::format(" {}={}", name, value);
  return result;
}
std::string SystemVariant::name() const {
  std::string result = text();
  for (char& c : result)
    if (!std::isalnum(static_cast<unsigned char>(c))) c = '_';
  return result;
}
std::ostream& operator<<(std::ostream& out, const SystemVariant& variant) { return out << variant.text(); }

void make_tiny(Config& config, const SystemVariant& variant, Index width) {
  Setting setting(variant.settings, width);
  config.visit(setting);
  setting.finish(variant.system);
}

bool has_field(const System& system, const std::string& name) {
  FieldNames found;
  system.config("small")->visit(found);
  return found.names.contains(name);
}

void add_parts(const std::string& system, std::vector<SystemVariant>& list) {
  for (const auto& score : PartRegistry<Score>::entries()) list.push_back({system, {{"score", score.name}}});
  for (const auto& window : PartRegistry<Window>::entries()) list.push_back({system, {{"window", window.name}}});
  for (const auto& normaliser : PartRegistry<Normaliser>::entries())
    list.push_back({system, {{"normaliser", normaliser.name}}});
}

}  // namespace heed::test
