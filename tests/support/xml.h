#pragma once

#include <map>
#include <string>
#include <vector>

namespace heed::test {

// One element of an XML file, with the text directly inside it.
struct XmlElement {
  std::string name;
  std::map<std::string, std::string> attributes;
  std::string text;
  std::vector<std::string> inside;  // the names of the elements around it, the outermost first
};
// All elements in the order of their beginnings, as expat reads them. What is not well-formed is a test failure.
std::vector<XmlElement> read_xml(const std::string& xml);
// How often a part stands in a text.
std::size_t times_in(const std::string& text, const std::string& part);

}  // namespace heed::test
