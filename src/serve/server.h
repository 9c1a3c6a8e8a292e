#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "heed/serve/service.h"

namespace heed {

// Bytes of a request's body where nothing else is said, and where a model reads images or sounds.
inline constexpr Index kLongestBody = 1 << 20, kLongestFileBody = 16 << 20;

struct ServerOptions {
  std::string host = "127.0.0.1";                // a number; what is not loopback needs a token
  std::uint16_t port = 8080;                     // 0: one that is free
  Index longest_body = 0;                        // bytes; 413 beyond. 0: one of the two below
  Index longest_header = 8 << 10;                // bytes; 431 beyond
  Index connections = 1024;                      // open at once; one more is told 503
  std::chrono::milliseconds answer_time{30000};  // from a whole request to its answer; 504 beyond
  std::chrono::milliseconds client_time{10000};  // from a request's first byte to its last; 408 beyond
  std::chrono::milliseconds idle_time{60000};    // between requests, or until a client takes what it is sent
  ServiceOptions service = {};
  std::function<void(const std::string&)> log = [](const std::string&) {};  // a line per request
};

// HTTP/1.1 over TCP around a Service: one thread for all connections, two for the models.
class Server {
 public:
  // Loads the models and listens. Every fault is an Error: a folder, an address that is taken, no token where one is
  // needed.
  Server(const std::vector<ModelSource>& models, ServerOptions options);
  ~Server();
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  std::uint16_t port() const;
  // "http://127.0.0.1:8080/"
  std::string address() const;
  // Serves until stop() and returns when everything that was taken has been answered.
  void run();
  // Takes nothing more. From any thread.
  void stop();
  // Loads the models again whose folders have changed; requests are answered meanwhile. From any thread.
  void reload();
  // stop() at SIGINT or SIGTERM, where a second one ends the program at once; reload() at SIGHUP.
  void obey_signals();

 private:
  class Listener;
  std::unique_ptr<Listener> listener_;
};

}  // namespace heed
