#include "heed/explain/html.h"

#include "heed/base/error.h"
#include "heed/explain/content_policy.h"

namespace heed {

std::string html_page(std::string_view page, std::string_view scripts, std::string_view trace_json) {
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
  // The policy comes before all that it is about, the trace at the end: the page's script, a module, runs after all is
  // read.
  constexpr std::string_view head = "<head>";
  const std::size_t begin = page.find(head), end = page.rfind("</body>");
  require(begin < end && end != std::string_view::npos, "[html] the page has no <head> and </body>");
  const std::size_t inside = begin + head.size();
  return fmt::format("{}\n    <meta http-equiv=\"Content-Security-Policy\" content=\"{}\" />{}{}{}",
                     page.substr(0, inside), saved_page_policy(scripts), page.substr(inside, end - inside), script,
                     page.substr(end));
}

}  // namespace heed
