#include "heed/store/folder_digests.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "heed/base/error.h"
#include "heed/base/json-inl.h"

namespace heed {
namespace {

namespace fs = std::filesystem;
using OrderedJson = nlohmann::ordered_json;

constexpr const char* kDigests = "digests.json";
constexpr const char* kHash = "XXH3-128";

}  // namespace

FolderDigests::List FolderDigests::read() const {
  const fs::path file = folder_ / kDigests;
  std::error_code ignored;
  if (!fs::exists(file, ignored)) return {};
  const OrderedJson json = read_json_file<OrderedJson>(file);
  const auto check = [&file](bool ok) { require(ok, "{}: it is damaged: it is no list of digests", file.string()); };
  check(json.is_object() && json.contains("hash") && json.contains("files") && json["files"].is_object());
  require(json["hash"] == kHash, "{}: its digests are of another kind than {}", file.string(), kHash);
  List list;
  for (const auto& [name, digests] : json["files"].items()) {
    const fs::path path = name;
    check(path.is_relative() && std::find(path.begin(), path.end(), "..") == path.end());
    check(digests.is_array() && !digests.empty());
    for (const OrderedJson& digest : digests) {
      check(digest.is_string());
      list[name].push_back(digest.get<std::string>());
    }
  }
  return list;
}

void FolderDigests::write(const List& list) const {
  write_file(folder_ / kDigests, OrderedJson{{"hash", kHash}, {"files", list}}.dump(1) + "\n");
}

void FolderDigests::begin(const std::vector<std::string>& names) const {
  List list;
  for (const std::string& name : names) list[name] = {digest_of_file(folder_ / name)};
  write(list);
}

void FolderDigests::replace(const std::string& name,
                            const std::function<void(const AtomicFile::BeforeRename&)>& write_it) const {
  List list = read();
  std::vector<std::string>& digests = list[name];
  if (std::error_code ignored; digests.empty())
    digests.push_back(fs::exists(folder_ / name, ignored) ? digest_of_file(folder_ / name) : "");
  write_it([&](const std::string& digest) {
    std::erase(digests, digest);
    digests.insert(digests.begin(), digest);
    write(list);
  });
  if (digests.size() <= 1) return;
  digests.resize(1);
  write(list);
}

std::string FolderDigests::fault_of(const std::string& name, const std::vector<std::string>& digests) const {
  std::error_code ignored;
  const bool there = fs::exists(folder_ / name, ignored);
  const std::string found = there ? digest_of_file(folder_ / name) : "";
  if (std::find(digests.begin(), digests.end(), found) != digests.end()) return "";
  return there ? "it is not what was written" : "it is missing";
}

void FolderDigests::check(const std::string& name) const {
  List list = read();
  for (int again = 0; list.contains(name); ++again) {
    const std::string fault = fault_of(name, list[name]);
    if (fault.empty()) return;
    List now = read();  // it may have been replaced meanwhile
    constexpr int kOften = 10;
    if (now == list || again == kOften)
      fail("{}: {}; 'heed info --verify' lists what is damaged, and without {} nothing is compared",
           (folder_ / name).string(), fault, kDigests);
    list = std::move(now);
  }
}

std::vector<std::string> FolderDigests::names() const {
  std::vector<std::string> names;
  for (const auto& [name, digests] : read()) names.push_back(name);
  return names;
}

std::vector<FolderDigests::Finding> FolderDigests::findings() const {
  const List list = read();
  std::map<std::string, Finding> found;
  for (const auto& [name, digests] : list) found[name] = {name, fault_of(name, digests), true, digests.size() > 1};
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(folder_)) {
    const std::string name = entry.path().lexically_relative(folder_).string();
    if (entry.is_regular_file() && name != kDigests && !found.contains(name)) found[name] = {name, "", false, false};
  }
  std::vector<Finding> all;
  all.reserve(found.size());
  for (auto& [name, finding] : found) all.push_back(std::move(finding));
  return all;
}

}  // namespace heed
