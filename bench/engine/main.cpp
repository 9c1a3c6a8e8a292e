// heed_bench: a worker that bench/run.py drives line by line over standard input and output, so that it is idle
// while another worker is measured. Each answer is one line of JSON; an error has the key "error".
//
//   cases                     the names it knows
//   mechanisms                the registered mechanisms, with their options
//   prepare <case> <threads>  makes the case's data; a case is a name of `cases` or a family with settings (settings.h)
//   check [times]             does the case's work three or so many times and summarises what it computed
//   run <times>               seconds for one repetition, by the clock and of all its threads' processor time
//   settle                    gives unused memory back; the peaks count from here
//   memory                    resident bytes of the process now and at most since `prepare`, most bytes of the pool
//   version                   versions and SIMD target
//   fma <threads>             GFLOP/s of the yardstick
//   bandwidth <threads>       GB/s read from memory
//
// `heed_bench --version` is the program whose start is timed: it loads the library and computes one small sum.

#include <fmt/format.h>
#include <oneapi/dnnl/dnnl.h>

#include <time.h>

#include <chrono>
#include <cmath>
#include <fstream>
#include <iostream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "attention/composition.h"
#include "attention/settings.h"
#include "engine/case.h"
#include "heed/autograd/ops/elementwise.h"
#include "heed/base/threads.h"
#include "heed/kernels/dispatch.h"

using nlohmann::json;

namespace heed::bench {
namespace {

// Sums in double of x, |x|, x² and x·w for fixed pseudo-random weights w, and a few single numbers.
json summary(const Tensor& tensor) {
  const Tensor x = tensor.contiguous();
  const Index n = x.size();
  double sum = 0, magnitude = 0, squares = 0, weighted = 0;
  const Tensor weights = filled({n}, 99);
  for (Index i = 0; i < n; ++i) {
    const double value = x.data()[i];
    sum += value, magnitude += std::abs(value), squares += value * value, weighted += value * weights.data()[i];
  }
  const std::vector<double> elements{x.data()[0], x.data()[n / 3], x.data()[n / 2], x.data()[n - 1]};
  return {{"count", n},         {"sum", sum},           {"magnitude", magnitude},
          {"squares", squares}, {"weighted", weighted}, {"elements", elements}};
}

json check(const Step& step, int times) {
  json all = json::object();
  for (int turn = 1; turn <= times; ++turn) {
    Results results;
    step(&results);
    for (const auto& [name, tensor] : results) all[fmt::format("{} of step {}", name, turn)] = summary(tensor);
  }
  return all;
}

double processor_seconds() {
  timespec now{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

json timed(const Step& step, int times) {
  step(nullptr);  // the caches are cold after the other worker's turn
  const double processor = processor_seconds();
  const auto begin = std::chrono::steady_clock::now();
  for (int i = 0; i < times; ++i) step(nullptr);
  const std::chrono::duration<double> wall = std::chrono::steady_clock::now() - begin;
  return {{"wall", wall.count() / times}, {"processor", (processor_seconds() - processor) / times}};
}

std::size_t resident_bytes(const std::string& which) {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);)
    if (line.starts_with(which + ":")) return std::stoull(line.substr(which.size() + 1)) * 1024;
  return 0;
}

// Gives unused memory back. The peaks count from here, so that making the data does not hide the work.
json settled() {
  memory::trim();
  std::ofstream("/proc/self/clear_refs") << "5" << std::flush;
  memory::reset_peak();
  return {{"resident", resident_bytes("VmRSS")}, {"pool", memory::statistics().bytes_in_use}};
}

json answer(const std::string& line, Step& step) {
  std::istringstream words(line);
  std::string command;
  words >> command;
  if (command == "cases") {
    json names = json::array();
    for (const auto& entry : cases()) names.push_back(entry.first);
    return {{"cases", names}};
  }
  if (command == "prepare") {
    std::string name;
    int threads = 1;
    words >> name >> threads;
    const auto found = cases().find(name);
    const bool family = name.find(',') != std::string::npos;
    require(family || found != cases().end(), "[bench] there is no case '{}'", name);
    set_thread_count(threads);
    step = {};
    memory::trim();
    step = family ? family_step(name) : found->second();
    return settled();
  }
  if (command == "settle") return settled();
  if (command == "check" || command == "run") {
    require(static_cast<bool>(step), "[bench] '{}' before 'prepare'", command);
    int times = command == "check" ? 3 : 1;
    if (int asked = 0; words >> asked) times = asked;
    return command == "check" ? json{{"results", check(step, times)}} : timed(step, times);
  }
  if (command == "memory")
    return {{"resident", resident_bytes("VmRSS")},
            {"peak", resident_bytes("VmHWM")},
            {"pool", memory::statistics().peak_bytes}};
  if (command == "version") {
    const dnnl_version_t* dnnl = dnnl_version();
    return {{"heed", HEED_VERSION},
            {"onednn", fmt::format("{}.{}.{}", dnnl->major, dnnl->minor, dnnl->patch)},
            {"cpu", kernels::simd_targets().front()}};
  }
  if (command == "mechanisms") return {{"mechanisms", registered_mechanisms()}};
  if (command == "fma" || command == "bandwidth") {
    int threads = 1;
    words >> threads;
    if (command == "bandwidth") return {{"gigabytes", memory_bandwidth(threads)}};
    return {{"gflops", fma_peak(threads)}};
  }
  fail("[bench] unknown command '{}'", line);
}

}  // namespace
}  // namespace heed::bench

int main(int count, char** arguments) {
  if (count == 2 && std::string_view(arguments[1]) == "--version") {
    const heed::Var sum = heed::Tensor::scalar(1) + heed::Tensor::scalar(2);
    fmt::print("heed {} ({}), 1 + 2 = {}\n", HEED_VERSION, heed::kernels::simd_targets().front(), sum.value().item());
    return 0;
  }
  heed::bench::Step step;
  for (std::string line; std::getline(std::cin, line);) {
    json reply;
    try {
      reply = heed::bench::answer(line, step);
    } catch (const std::exception& error) {
      reply = {{"error", error.what()}};
    }
    std::cout << reply.dump() << std::endl;
  }
}
