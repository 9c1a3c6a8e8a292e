#include "heed/serve/adapter.h"

#include <algorithm>
#include <string_view>

namespace heed {
namespace {

std::vector<HttpAdapter>& registry() {
  static std::vector<HttpAdapter> list;
  return list;
}

}  // namespace

RegisterAdapter::RegisterAdapter(HttpAdapter adapter) {
  std::vector<HttpAdapter>& list = registry();
  const auto place = std::upper_bound(
      list.begin(), list.end(), std::string_view(adapter.path),
      [](std::string_view path, const HttpAdapter& other) { return path < std::string_view(other.path); });
  list.insert(place, std::move(adapter));
}

const std::vector<HttpAdapter>& adapters() { return registry(); }

}  // namespace heed
