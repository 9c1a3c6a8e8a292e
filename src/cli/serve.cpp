#include <fmt/chrono.h>

#include <CLI/CLI.hpp>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <memory>

#include "heed/base/file.h"
#include "heed/cli/commands.h"
#include "heed/cli/output_flags.h"
#include "heed/serve/server.h"

namespace heed::cli {
namespace {

struct ServeOptions {
  std::vector<std::string> models, languages;
  std::string token_file;
  double timeout = 30, client_timeout = 10, idle_timeout = 60;  // seconds
  int port = 8080;
  bool quiet = false, int8 = false;
  RunSettings settings;
  ServerOptions server;
};

std::chrono::milliseconds milliseconds(const char* option, double seconds) {
  require(seconds >= 0.001 && seconds <= 86400, "{}: it must be from 0.001 to 86400 seconds, not {}", option, seconds);
  return std::chrono::milliseconds(static_cast<std::int64_t>(seconds * 1000));
}

void at_least_one(const char* option, Index value) {
  require(value >= 1, "{}: it must be at least 1, not {}", option, value);
}

// From the file, or else the environment: a command line can be read by everybody on the machine.
std::string token(const ServeOptions& options) {
  const char* environment = std::getenv("HEED_TOKEN");
  std::string token =
      options.token_file.empty() ? (environment != nullptr ? environment : "") : read_file(options.token_file, 4096);
  while (!token.empty() && (token.back() == '\n' || token.back() == '\r')) token.pop_back();
  require(options.token_file.empty() || !token.empty(), "{}: there is no token in it", options.token_file);
  for (const char c : token)
    require(c > ' ' && c < 127, "the token may have letters, digits and signs of ASCII only, without spaces");
  return token;
}

// The models as they were named, with the languages that were given for them in the same order.
std::vector<ModelSource> sources_of(const ServeOptions& options) {
  std::vector<ModelSource> models;
  for (const std::string& model : options.models) {
    models.push_back(model_source(model));
    models.back().numbers = options.int8 ? Numbers::int8 : Numbers::stored;
    models.back().settings = options.settings;
  }
  require(options.languages.size() <= models.size(), "--languages: it was given {} times for {} models",
          options.languages.size(), models.size());
  for (std::size_t i = 0; i < options.languages.size(); ++i) {
    const std::string& pair = options.languages[i];
    if (pair.empty() || pair == "-") continue;
    models[i].languages = split_languages(pair);
    require(!models[i].languages.empty(), "--languages: {} is not of the form en-de", pair);
  }
  return models;
}

void write_log(const std::string& line) {
  const std::time_t now = std::chrono::system_clock::to_time_t(std::chrono::system_clock::now());
  fmt::print(stderr, "{:%Y-%m-%dT%H:%M:%SZ} {}\n", fmt::gmtime(now), line);
}

void run(const ServeOptions& options) {
  ServerOptions server = options.server;
  ServiceOptions& service = server.service;
  require(options.port >= 0 && options.port <= 65535, "--port: {} is not from 0 to 65535", options.port);
  server.port = static_cast<std::uint16_t>(options.port);
  server.answer_time = milliseconds("--timeout", options.timeout);
  server.client_time = milliseconds("--client-timeout", options.client_timeout);
  server.idle_time = milliseconds("--idle-timeout", options.idle_timeout);
  require(server.longest_body >= 0, "--max-body: it must not be negative: {}", server.longest_body);
  at_least_one("--max-text", service.limits.text);
  at_least_one("--max-texts", service.limits.texts);
  at_least_one("--max-queue", service.batcher.queue);
  at_least_one("--max-connections", server.connections);
  at_least_one("--batch-sentences", service.batcher.sentences);
  require(service.threads >= 0, "--threads: it must be at least 0, not {}", service.threads);
  service.work.batch_sentences = service.batcher.sentences;
  service.token = token(options);
  server.log = write_log;
  if (options.quiet) server.log = [](const std::string&) {};
  const std::vector<ModelSource> models = sources_of(options);

  Server running(models, server);
  running.obey_signals();
  for (const ModelSource& model : models) fmt::print("{}: {}\n", model.name, model.folder.string());
  fmt::print("Serving at {}  (Ctrl-C ends it)\n", running.address());
  std::fflush(stdout);
  running.run();
  fmt::print("All requests are answered; the server has ended.\n");
}

}  // namespace

void add_serve(CLI::App& app) {
  CLI::App* command =
      app.add_subcommand("serve", "Serve models of one or several jobs over HTTP: a page, answers, traces");
  const auto options = std::make_shared<ServeOptions>();
  ServerOptions& server = options->server;
  ServiceOptions& service = server.service;
  command->add_option("models", options->models, "Model folders, as FOLDER or NAME=FOLDER; the first is the default")
      ->required()
      ->type_name("MODEL");
  command
      ->add_option("--languages", options->languages,
                   "Languages of a translation model, such as en-de; once per model, in order ('-': none for this one)")
      ->type_name("FROM-TO")
      ->allow_extra_args(false);
  command->add_option("--port,-p", options->port, "Port to listen on (0: any free one, which is printed)")
      ->capture_default_str();
  command->add_option("--host", server.host, "Address to listen on; one that other machines can reach needs a token")
      ->capture_default_str();
  command->add_option("--token-file", options->token_file,
                      "File with the token that clients must send (or set HEED_TOKEN)");
  command->add_option("--allow-origin", service.origins,
                      "Origin of another site whose pages may use the server, such as https://example.org ('*': any)");
  command->add_option("--threads,--cpu-threads", service.threads, "Threads of the models (0: all)")
      ->capture_default_str();
  command
      ->add_option("--batch-sentences", service.batcher.sentences, "Most sentences of different clients in one batch")
      ->capture_default_str();
  command
      ->add_option("--max-body", server.longest_body,
                   fmt::format("Largest request body in bytes; a larger one is answered with 413 (0: {}, or {} where a "
                               "model reads images or sounds)",
                               kLongestBody, kLongestFileBody))
      ->capture_default_str();
  command
      ->add_option("--max-text", service.limits.text, "Longest text in characters; a longer one is answered with 422")
      ->capture_default_str();
  command->add_option("--max-texts", service.limits.texts, "Most texts in a request; more are answered with 422")
      ->capture_default_str();
  command->add_option("--max-queue", service.batcher.queue, "Most requests that wait; one more is answered with 429")
      ->capture_default_str();
  command->add_option("--max-connections", server.connections, "Most open connections; one more is answered with 503")
      ->capture_default_str();
  command->add_option("--timeout", options->timeout, "Seconds until an answer is due; a later one is answered with 504")
      ->capture_default_str();
  command
      ->add_option("--client-timeout", options->client_timeout,
                   "Seconds for a request to arrive; a slower one is answered with 408")
      ->capture_default_str();
  command->add_option("--idle-timeout", options->idle_timeout, "Seconds until an idle connection is closed")
      ->capture_default_str();
  command->add_flag("--int8", options->int8,
                    "Round the models' weights to eight bits: faster, with a little less precision (see quantise)");
  add_setting_flags(*command, options->settings);
  command->add_flag("--quiet,-q", options->quiet, "Do not log a line for each request");
  command->footer(
      "Examples:\n"
      "  heed serve heed-demo/model                      # then open http://127.0.0.1:8080/\n"
      "  curl http://127.0.0.1:8080/translate -H 'Content-Type: application/json' -d '{\"q\": \"a small house\"}'\n"
      "  curl http://127.0.0.1:8080/explain -d '{\"text\": \"a small house\", \"attentions\": true}'\n"
      "  heed serve models/a models/headlines --languages en-de -p 0   # two jobs at once; any free port\n"
      "  curl http://127.0.0.1:8080/summarise -d '{\"text\": \"a library of routines that read pictures\"}'\n"
      "  HEED_TOKEN=secret heed serve my-model --host 0.0.0.0 --allow-origin https://example.org\n"
      "Every job answers at the path of its verb. GET /openapi.json describes every path, docs/server.md explains "
      "them.\n"
      "On SIGTERM the server answers what it has begun and ends; on SIGHUP it loads the models again whose folders "
      "have changed.");
  command->callback([options] { run(*options); });
}

}  // namespace heed::cli
