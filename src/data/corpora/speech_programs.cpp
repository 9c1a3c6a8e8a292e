#include "heed/data/corpora/speech_programs.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstring>

#include "heed/base/error.h"
#include "heed/base/spelling.h"
#include "heed/data/text_file.h"

extern char** environ;

namespace heed {
namespace {

constexpr const char* kPause = "pau";

// What a program prints. It is started by itself, without a shell.
std::string output_of(std::vector<std::string> arguments) {
  const std::string& program = arguments.front();
  std::array<int, 2> ends{};
  require(::pipe2(ends.data(), O_CLOEXEC) == 0, "[speech] {} cannot be started: {}", program, std::strerror(errno));
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  std::vector<char*> pointers;
  pointers.reserve(arguments.size() + 1);
  for (std::string& argument : arguments) pointers.push_back(argument.data());
  pointers.push_back(nullptr);
  pid_t child = 0;
  const int fault = ::posix_spawnp(&child, program.c_str(), &actions, nullptr, pointers.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  ::close(ends[1]);
  std::string printed;
  std::array<char, 4096> buffer{};
  for (ssize_t count = 1; fault == 0 && count > 0;) {
    count = ::read(ends[0], buffer.data(), buffer.size());
    if (count > 0) printed.append(buffer.data(), static_cast<std::size_t>(count));
    if (count < 0 && errno == EINTR) count = 1;
  }
  ::close(ends[0]);
  require(fault == 0, "[speech] {0} cannot be started: {1}; is it installed? apt-get install {0}", program,
          std::strerror(fault));
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  require(WIFEXITED(status) && WEXITSTATUS(status) == 0, "[speech] {} failed with {}", program,
          WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status));
  return printed;
}

}  // namespace

const std::vector<std::string>& speech_programs() {
  static const std::vector<std::string> names{"flite", "espeak-ng"};
  return names;
}

std::vector<std::string> usual_voices(const std::string& engine) {
  require(std::find(speech_programs().begin(), speech_programs().end(), engine) != speech_programs().end(),
          "[speech] there is no engine {}{}", engine, did_you_mean(engine, speech_programs()));
  if (engine == "flite") return {"slt", "rms", "kal16", "awb"};
  return {"en-us", "en-us+f3", "en-gb", "en-us+m5", "en-gb+f2", "en-us+f4"};
}

std::vector<TimedWord> read_flite_durations(const std::string& printed) {
  std::vector<TimedWord> phonemes;
  double begin = 0;
  for (const std::string_view cell : words_of_line(printed)) {
    const std::size_t colon = cell.rfind(':');
    double end = 0;
    const bool timed = colon != std::string_view::npos &&
                       std::from_chars(cell.data() + colon + 1, cell.data() + cell.size(), end).ec == std::errc();
    require(timed && end >= begin, "[speech] flite printed {}, which is no phoneme with its end", cell);
    if (cell.substr(0, colon) != kPause) phonemes.push_back({std::string(cell.substr(0, colon)), begin, end});
    begin = end;
  }
  return phonemes;
}

ReadAloud read_aloud(const std::string& engine, const std::string& voice, const std::string& text,
                     const std::filesystem::path& wav) {
  if (engine == "flite")
    return {read_flite_durations(output_of({"flite", "-voice", voice, "-psdur", "-t", text, "-o", wav.string()})),
            true};
  // A text that begins with - is none of its options behind a space.
  const std::string printed = output_of({"espeak-ng", "-v", voice, "-x", "--sep=_", "-w", wav.string(), " " + text});
  ReadAloud said;
  for (const std::string_view word : words_of_line(printed)) {
    for (std::size_t begin = 0; begin < word.size();) {
      const std::size_t end = std::min(word.find('_', begin), word.size());
      // Marks of stress stand before their phoneme.
      const std::size_t first = std::min(word.find_first_not_of("',%=", begin), end);
      if (end > first) said.phonemes.push_back({std::string(word.substr(first, end - first))});
      begin = end + 1;
    }
  }
  return said;
}

}  // namespace heed
