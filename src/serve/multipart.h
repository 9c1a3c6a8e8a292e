#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "heed/serve/http.h"

// multipart/form-data as browsers and curl -F send it (RFC 2046 section 5.1, RFC 7578): what stands between lines of
// "--boundary", each part with a header of its own. What comes before the first such line and after the last is
// passed over. Every fault is an HttpError.

namespace heed {

struct FormPart {
  std::string name;       // empty: it has none
  std::string file_name;  // as it was sent; never used as the name of a file
  std::string type;       // Content-Type of the part; may be empty
  bool is_file = false;   // it has a file name, even an empty one
  std::string_view body;  // a view of the request's
};

// Whether the request says that its body is one.
bool is_multipart_form(const HttpRequest& request);
// Its parts in their order; names may be repeated. 400 if the boundary is missing or wrong, a part is not whole or its
// header cannot be read, or the closing line is missing; 413 if there are more than `most` parts. The views last as
// long as the request.
std::vector<FormPart> multipart_form(const HttpRequest& request, std::size_t most = 1024);

}  // namespace heed
