#include "heed/serve/server.h"

#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/signal_set.hpp>
#include <csignal>
#include <thread>

#include "heed/serve/session-inl.h"

namespace heed {
namespace {

namespace asio = boost::asio;
using asio::ip::tcp;
using Failure = boost::system::error_code;

constexpr std::chrono::milliseconds kBeforeNextTry{50};

tcp::endpoint endpoint_of(const ServerOptions& options) {
  Failure failure;
  const asio::ip::address address =
      asio::ip::make_address(options.host == "localhost" ? "127.0.0.1" : options.host, failure);
  require(!failure, "--host: {} is no address; give a number such as 127.0.0.1 or 0.0.0.0", options.host);
  require(address.is_loopback() || !options.service.token.empty(),
          "--host: {} can be reached from other machines; set a token with HEED_TOKEN or --token-file first",
          options.host);
  return {address, options.port};
}

}  // namespace

class Server::Listener {
 public:
  Listener(const std::vector<ModelSource>& models, ServerOptions options)
      : options_(std::move(options)),
        acceptor_(io_),
        signals_(io_),
        reloads_(io_),
        pause_(io_),
        service_(models, options_.service, options_.log),
        sessions_{options_, service_} {
    if (options_.longest_body == 0) options_.longest_body = service_.reads_files() ? kLongestFileBody : kLongestBody;
  }

  // Loading takes long, so what can fail at once is tried before; clients are taken after.
  void listen(const tcp::endpoint& endpoint) {
    Failure failure;
    const auto check = [&] {
      require(!failure, "cannot listen at {}:{}: {}; another port is chosen with --port",
              endpoint.address().to_string(), endpoint.port(), failure.message());
    };
    acceptor_.open(endpoint.protocol(), failure), check();
    acceptor_.set_option(tcp::acceptor::reuse_address(true), failure), check();
    acceptor_.bind(endpoint, failure), check();
    acceptor_.listen(asio::socket_base::max_listen_connections, failure), check();
    accept();
  }
  tcp::endpoint endpoint() const { return acceptor_.local_endpoint(); }

  void run() {
    for (bool done = false; !done;) {
      try {
        io_.run();
        done = true;
      } catch (const std::exception& error) {  // of one connection; the others go on
        options_.log(fmt::format("unexpected: {}", error.what()));
      }
    }
    if (reloader_.joinable()) reloader_.join();
    service_.finish();
  }
  void reload() {
    asio::post(io_, [this] { begin_reload(); });
  }
  void stop() {
    asio::post(io_, [this] { finish(); });
  }
  void obey_signals() {
    reloads_.add(SIGHUP);
    wait_for_reload();
    signals_.add(SIGINT);
    signals_.add(SIGTERM);
    signals_.async_wait([this](Failure failure, int signal) {
      if (failure) return;
      options_.log(fmt::format("signal {}: finishing what is running", signal));
      signals_.clear();
      finish();
    });
  }

 private:
  void wait_for_reload() {
    reloads_.async_wait([this](Failure failure, int signal) {
      if (failure) return;
      options_.log(fmt::format("signal {}: looking for models that have changed", signal));
      begin_reload();
      wait_for_reload();
    });
  }
  // Loading takes long, so it has a thread of its own. What asks for it meanwhile has it done once more.
  void begin_reload() {
    if (sessions_.finishing) return;
    reload_again_ = reloader_.joinable();
    if (reload_again_) return;
    reloader_ = std::thread([this] {
      try {
        service_.reload();
      } catch (const std::exception& error) {
        options_.log(fmt::format("unexpected: {}", error.what()));
      }
      asio::post(io_, [this] {
        reloader_.join();
        if (reload_again_) begin_reload();
      });
    });
  }

  void accept() {
    acceptor_.async_accept([this](Failure failure, tcp::socket socket) {
      if (!failure) take(std::move(socket));  // also one that had come when the server ended
      if (!acceptor_.is_open()) return;
      if (failure) {  // most likely too many open files
        pause_.expires_after(kBeforeNextTry);
        pause_.async_wait([this](Failure stopped) {
          if (!stopped && acceptor_.is_open()) accept();
        });
        return;
      }
      accept();
    });
  }
  void take(tcp::socket socket) {
    const bool full = static_cast<Index>(sessions_.open.size()) >= options_.connections;
    const auto session = std::make_shared<Session>(std::move(socket), sessions_);
    full ? session->refuse_unread(503, "too many connections are open; try again in a moment") : session->start();
  }
  // Clients that have connected already are told that the server ends, if they have asked.
  void take_the_rest() {
    Failure failure;
    acceptor_.non_blocking(true, failure);
    while (!failure) {
      tcp::socket socket = acceptor_.accept(failure);
      if (!failure) take(std::move(socket));
    }
  }
  void finish() {
    if (sessions_.finishing) return;
    sessions_.finishing = true;
    service_.begin_finishing();
    take_the_rest();
    Failure ignored;
    acceptor_.close(ignored);
    signals_.cancel(ignored);
    reloads_.cancel(ignored);
    pause_.cancel();
    const std::set<Session*> open = sessions_.open;  // sessions end only later, when their handlers have run
    for (Session* session : open) session->finish();
  }

  ServerOptions options_;
  asio::io_context io_{1};
  tcp::acceptor acceptor_;
  asio::signal_set signals_, reloads_;
  asio::steady_timer pause_;
  Service service_;
  Sessions sessions_;
  std::thread reloader_;
  bool reload_again_ = false;
};

Server::Server(const std::vector<ModelSource>& models, ServerOptions options) {
  const tcp::endpoint endpoint = endpoint_of(options);
  listener_ = std::make_unique<Listener>(models, std::move(options));
  listener_->listen(endpoint);
}

Server::~Server() = default;

std::uint16_t Server::port() const { return listener_->endpoint().port(); }

std::string Server::address() const {
  const asio::ip::address address = listener_->endpoint().address();
  const std::string text = address.to_string();
  return fmt::format("http://{}:{}/", address.is_v6() ? "[" + text + "]" : text, port());
}

void Server::run() { listener_->run(); }
void Server::stop() { listener_->stop(); }
void Server::reload() { listener_->reload(); }
void Server::obey_signals() { listener_->obey_signals(); }

}  // namespace heed
