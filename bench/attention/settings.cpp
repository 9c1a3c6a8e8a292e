#include "attention/settings.h"

#include <sstream>

namespace heed::bench {

std::map<std::string, PrepareFamily>& families() {
  static std::map<std::string, PrepareFamily> all;
  return all;
}

Settings::Settings(const std::string& name) {
  std::istringstream words(name);
  std::getline(words, family_, ',');
  for (std::string word; std::getline(words, word, ',');) {
    const std::size_t equals = word.find('=');
    require(equals != std::string::npos, "[bench] '{}' in '{}' is not key=value", word, name);
    said_[word.substr(0, equals)] = word.substr(equals + 1);
  }
}

std::string Settings::word(const std::string& key, const std::string& otherwise) {
  read_.insert(key);
  const auto found = said_.find(key);
  return found == said_.end() ? otherwise : found->second;
}

Index Settings::number(const std::string& key, Index otherwise) {
  return std::stoll(word(key, std::to_string(otherwise)));
}

double Settings::real(const std::string& key, double otherwise) {
  return std::stod(word(key, std::to_string(otherwise)));
}

void Settings::check_all_read() const {
  for (const auto& [key, value] : said_)
    require(read_.count(key) > 0, "[bench] the family '{}' has no setting '{}'", family_, key);
}

Step family_step(const std::string& name) {
  Settings settings(name);
  const auto found = families().find(settings.family());
  require(found != families().end(), "[bench] there is no family '{}'", settings.family());
  Step step = found->second(settings);
  settings.check_all_read();
  return step;
}

}  // namespace heed::bench
