#pragma once

#include <string_view>

namespace heed {

// docs/openapi.json and docs/trace.schema.json, as they were when the library was built.
std::string_view openapi_json();
std::string_view trace_schema_json();
// "0.1.0"
std::string_view heed_version();

}  // namespace heed
