#pragma once

#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "heed/serve/work.h"

namespace heed::test {

// A client without a socket: remembers what it is told, and leaves when it was looked for so often.
class Heard final : public HttpReply {
 public:
  void header(const std::string&, const std::string&) override {}
  void send(HttpResponse response) override { answer = std::move(response); }
  void event(const std::string& name, const std::string& data) override { events.emplace_back(name, data); }
  void end() override { ended = true; }
  bool gone() const override { return ++looked_for > leaves_after; }

  HttpResponse answer{0, ""};
  std::vector<std::pair<std::string, std::string>> events;
  bool ended = false;
  int leaves_after = std::numeric_limits<int>::max();
  mutable int looked_for = 0;
};

// Does the work that make(reply) gives as often as it has steps, for a client that leaves before the first of them,
// before the second, and so on; how many there are. Empty: it ended each time right there, without a word.
template <class Make>
std::pair<int, std::string> leave_at_every_step(const Make& make) {
  const auto done = [&](Heard& heard, const std::shared_ptr<Heard>& reply) {
    const std::shared_ptr<Work> work = make(reply);
    try {
      work->run({work.get()});
      return true;
    } catch (const HttpError&) {
      return heard.answer.status != 0;
    }
  };
  const auto patient = std::make_shared<Heard>();
  if (!done(*patient, patient)) return {0, "it ends though somebody waits"};
  for (int steps = 0; steps < patient->looked_for; ++steps) {
    const auto impatient = std::make_shared<Heard>();
    impatient->leaves_after = steps;
    if (done(*impatient, impatient)) return {patient->looked_for, fmt::format("it goes on after step {}", steps)};
    if (impatient->looked_for != steps + 1)
      return {patient->looked_for, fmt::format("after step {} it goes on to step {}", steps, impatient->looked_for)};
  }
  return {patient->looked_for, ""};
}

}  // namespace heed::test
