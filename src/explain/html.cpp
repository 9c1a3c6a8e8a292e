#include "heed/explain/html.h"

#include "heed/base/error.h"

namespace heed {

std::string html_page(std::string_view page, std::string_view trace_json) {
  require(!page.empty(), "[html] this build has no page to put a trace into");
  std::string script = "<script type=\"application/json\" id=\"trace\">";
  for (const char c : trace_json) {
    switch (c) {
      case '<': script += "\\u003c"; break;
      case '>': script += "\\u003e"; break;
      case '&': script += "\\u0026"; break;
      default: script += c;
    }
  }
  script += "</script>\n";
  // At the end: the page's own head stays where browsers look for its encoding, and its script, a module, runs after
  // all is read.
  const std::size_t end = page.rfind("</body>");
  require(end != std::string_view::npos, "[html] the page has no </body>");
  return std::string(page.substr(0, end)) + script + std::string(page.substr(end));
}

}  // namespace heed
