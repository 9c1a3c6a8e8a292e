#pragma once

#include <mutex>
#include <thread>

#include "heed/base/file.h"
#include "heed/serve/server.h"
#include "serve/http_client.h"
#include "support/temporary_folder.h"
#include "support/tiny_bundle.h"

namespace heed::test {

// A tiny model with weights by chance, of words a..j, in a folder of its own. The notes are its training.json.
inline std::filesystem::path make_model(const std::filesystem::path& folder, TinyBundle tiny,
                                        const std::string& notes = "") {
  tiny.texts = {"a b c d e f g h i j\n<b>bold</b> سلام 🙂\n"};
  make_tiny_folder(folder, tiny);
  if (!notes.empty()) write_file(ModelFolder(folder).training(), notes);
  return folder;
}

inline std::filesystem::path make_rnnsearch(const std::filesystem::path& folder, const std::string& name,
                                            const std::string& job = "translation", const std::string& notes = "") {
  return make_model(
      folder / name,
      {.system = "rnnsearch", .job = job, .settings = {{"embedding", "16"}, {"hidden", "64"}, {"maxout", "16"}}},
      notes);
}

inline std::filesystem::path make_transformer(const std::filesystem::path& folder, const std::string& name) {
  return make_model(
      folder / name,
      {.system = "transformer",
       .settings = {
           {"width", "16"}, {"feed-forward", "16"}, {"heads", "2"}, {"layers", "1"}, {"decoder-layers", "2"}}});
}

// A server that runs in a thread of its own until it is stopped or goes away.
class RunningServer {
 public:
  RunningServer(const std::vector<ModelSource>& models, ServerOptions options) : server_(models, prepared(options)) {
    thread_ = std::thread([this] { server_.run(); });
  }
  ~RunningServer() { stop(); }
  void ask_to_stop() { server_.stop(); }
  void reload() { server_.reload(); }
  // Returns when everything is answered.
  void stop() {
    if (!thread_.joinable()) return;
    server_.stop();
    thread_.join();
  }
  std::uint16_t port() const { return server_.port(); }
  std::vector<std::string> log() const {
    const std::lock_guard lock(mutex_);
    return lines_;
  }

 private:
  ServerOptions prepared(ServerOptions options) {
    options.port = 0;
    if (options.answer_time == ServerOptions{}.answer_time) options.answer_time = std::chrono::minutes(5);
    options.log = [this](const std::string& line) {
      const std::lock_guard lock(mutex_);
      lines_.push_back(line);
    };
    return options;
  }

  mutable std::mutex mutex_;
  std::vector<std::string> lines_;
  Server server_;
  std::thread thread_;
};

}  // namespace heed::test
