#pragma once

#include <nlohmann/json.hpp>

namespace heed::bench {

// Every mechanism of the registry: name, the options in which it differs from the default composition, and whether it
// takes one query at a time because it carries state.
nlohmann::json registered_mechanisms();

}  // namespace heed::bench
