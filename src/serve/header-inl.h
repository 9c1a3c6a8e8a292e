#pragma once

#include <boost/beast/http/fields.hpp>
#include <boost/beast/http/message.hpp>

#include "heed/serve/http.h"

// Only the server's own sources include this.

namespace heed {

// A request without its body, by the rules of RFC 9112. The target may be absolute ("http://host/path") and is then
// cut to its path, whatever the Host field says. 400 if there is no Host, more than one or one that is no host (before
// HTTP/1.1 it may be missing), or the target has no form that the method takes.
HttpRequest request_of(const boost::beast::http::request_header<>& header);

}  // namespace heed
