#pragma once

#include <string_view>

namespace heed {

// docs/openapi.json and docs/trace.schema.json, as they were when the library was built.
std::string_view openapi_json();
std::string_view trace_schema_json();

}  // namespace heed
