#include "support/xml.h"

#include <expat.h>
#include <gtest/gtest.h>

#include <memory>

namespace heed::test {
namespace {

struct Reading {
  std::vector<XmlElement> elements;
  std::vector<std::size_t> open;  // places in `elements`
};

void begin_element(void* data, const XML_Char* name, const XML_Char** attributes) {
  auto& reading = *static_cast<Reading*>(data);
  XmlElement element{name, {}, "", {}};
  for (; *attributes; attributes += 2) element.attributes[attributes[0]] = attributes[1];
  for (const std::size_t outer : reading.open) element.inside.push_back(reading.elements[outer].name);
  reading.open.push_back(reading.elements.size());
  reading.elements.push_back(std::move(element));
}

void end_element(void* data, const XML_Char*) { static_cast<Reading*>(data)->open.pop_back(); }

void text_inside(void* data, const XML_Char* text, int length) {
  auto& reading = *static_cast<Reading*>(data);
  reading.elements[reading.open.back()].text.append(text, static_cast<std::size_t>(length));
}

}  // namespace

std::vector<XmlElement> read_xml(const std::string& xml) {
  const std::unique_ptr<XML_ParserStruct, decltype(&XML_ParserFree)> parser(XML_ParserCreate("UTF-8"), XML_ParserFree);
  Reading reading;
  XML_SetUserData(parser.get(), &reading);
  XML_SetElementHandler(parser.get(), begin_element, end_element);
  XML_SetCharacterDataHandler(parser.get(), text_inside);
  if (XML_Parse(parser.get(), xml.data(), static_cast<int>(xml.size()), 1) == XML_STATUS_ERROR)
    ADD_FAILURE() << "not well-formed: " << XML_ErrorString(XML_GetErrorCode(parser.get())) << " in line "
                  << XML_GetCurrentLineNumber(parser.get());
  return reading.elements;
}

std::size_t times_in(const std::string& text, const std::string& part) {
  std::size_t found = 0;
  for (std::size_t at = 0; (at = text.find(part, at)) != std::string::npos; at += part.size()) ++found;
  return found;
}

}  // namespace heed::test
