#include "heed/base/fields.h"

#include <algorithm>
#include <charconv>

#include "heed/base/error.h"

namespace heed {
namespace {

using Kind = FieldDescription::Kind;

class Describer final : public Fields {
 public:
  void operator()(const char* name, Index& value, const char* help) override {
    list.push_back({name, help, Kind::whole, fmt::format("{}", value)});
  }
  void operator()(const char* name, double& value, const char* help) override {
    list.push_back({name, help, Kind::real, fmt::format("{}", value)});
  }
  void operator()(const char* name, bool& value, const char* help) override {
    list.push_back({name, help, Kind::truth, value ? "true" : "false"});
  }
  void operator()(const char* name, std::string& value, const char* help) override {
    list.push_back({name, help, Kind::text, value});
  }
  std::vector<FieldDescription> list;
};

class Setter final : public Fields {
 public:
  Setter(const std::string& name, const std::string& text, const std::string& who)
      : name_(flag_name(name)), text_(text), who_(who) {}
  void operator()(const char* name, Index& value, const char*) override {
    if (matches(name)) value = number<Index>("a whole number");
  }
  void operator()(const char* name, double& value, const char*) override {
    if (matches(name)) value = number<double>("a number");
  }
  void operator()(const char* name, bool& value, const char*) override {
    if (!matches(name)) return;
    const bool yes = text_ == "true" || text_ == "1" || text_ == "yes";
    require(yes || text_ == "false" || text_ == "0" || text_ == "no", "{}: {} must be true or false, not '{}'", who_,
            name_, text_);
    value = yes;
  }
  void operator()(const char* name, std::string& value, const char*) override {
    if (matches(name)) value = text_;
  }
  bool found() const { return found_; }

 private:
  bool matches(const char* name) {
    const bool same = flag_name(name) == name_;
    found_ = found_ || same;
    return same;
  }
  template <class Number>
  Number number(const char* what) const {
    Number result{};
    const char* end = text_.data() + text_.size();
    const auto [stopped, error] = std::from_chars(text_.data(), end, result);
    require(error == std::errc() && stopped == end, "{}: {} must be {}, not '{}'", who_, name_, what, text_);
    return result;
  }

  const std::string name_;
  const std::string &text_, &who_;
  bool found_ = false;
};

}  // namespace

std::vector<FieldDescription> describe_fields(const VisitFields& visit) {
  Describer describer;
  visit(describer);
  return std::move(describer.list);
}

bool set_field(const VisitFields& visit, const std::string& name, const std::string& text, const std::string& who) {
  Setter setter(name, text, who);
  visit(setter);
  return setter.found();
}

std::string flag_name(std::string name) {
  std::replace(name.begin(), name.end(), '_', '-');
  return name;
}

}  // namespace heed
