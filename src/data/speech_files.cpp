#include <algorithm>
#include <charconv>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>

#include "heed/base/error.h"
#include "heed/base/json-inl.h"
#include "heed/data/sample_files.h"
#include "heed/data/sound_files.h"
#include "heed/data/sound_matrices.h"

// Utterances and what was said in them, as the field keeps them. Tables of paths and texts need nothing of their own.
//   kaldi        a folder with `text` (utterance, words) and `wav.scp` (recording, path) or `feats.scp` (utterance,
//                path.ark:offset); `segments` (utterance, recording, begin, end in seconds) where there are any
//   nemo         JSON lines of audio_filepath and text, with offset and duration of a part of the file
//   librispeech  a folder of folders with NAME.trans.txt (utterance, words) and the sounds, UTTERANCE.flac, beside it
// Of a folder of Kaldi's nothing is executed: a command in wav.scp is an Error.

namespace heed {
namespace {

namespace fs = std::filesystem;

constexpr const char* kWithoutSound = "left out, without a sound";
constexpr const char* kNotJson = "left out, not an object of JSON";

// Which column is the sound and which the text; the text's is missing where only sounds are read.
struct SpeechColumns {
  std::size_t count = 0, sound = 0;
  std::optional<std::size_t> text = {};
};
std::optional<SpeechColumns> speech_columns(const std::vector<SampleColumn>& columns) {
  SpeechColumns found{.count = columns.size()};
  std::size_t sounds = 0;
  for (std::size_t i = 0; i < columns.size(); ++i) {
    if (columns[i].output) found.text = i;
    if (!columns[i].output && columns[i].kind == Kind::sound) found.sound = i, ++sounds;
  }
  if (sounds != 1 || columns.size() != (found.text ? 2 : 1)) return {};
  return found;
}
SpeechColumns require_speech(const std::vector<SampleColumn>& columns, const char* format) {
  const std::optional<SpeechColumns> found = speech_columns(columns);
  require(found.has_value(), "[samples] files of format {} have a sound and a text, which is not what this job reads",
          format);
  return *found;
}

struct Utterance {
  std::string sound;  // empty: there is none
  std::string text;
  Samples::Place place;
};

void fill(SampleRecord& record, const SpeechColumns& columns, std::string sound, std::string text) {
  record.cells.resize(columns.count);
  record.cells[columns.sound] = {std::move(sound)};
  if (columns.text) record.cells[*columns.text] = {std::move(text)};
}

// The utterances of whole folders, one after another.
class FolderRecords final : public SampleRecords {
 public:
  using List = std::vector<Utterance> (*)(const std::string& folder, bool texts);

  FolderRecords(std::vector<std::string> folders, SpeechColumns columns, List list)
      : folders_(std::move(folders)), columns_(columns), list_(list) {
    open();
  }
  std::size_t sets() const override { return folders_.size(); }

  bool next(SampleRecord& record) override {
    while (at_ == utterances_.size()) {
      if (++set_ == folders_.size()) return false;
      open();
    }
    Utterance& utterance = utterances_[at_++];
    record.set = set_;
    record.place = std::move(utterance.place);
    if (utterance.sound.empty()) record.fault = kWithoutSound;
    fill(record, columns_, std::move(utterance.sound), std::move(utterance.text));
    return true;
  }

 private:
  void open() {
    utterances_ = list_(folders_[set_], columns_.text.has_value());
    at_ = 0;
  }

  std::vector<std::string> folders_;
  SpeechColumns columns_;
  List list_;
  std::size_t set_ = 0, at_ = 0;
  std::vector<Utterance> utterances_;
};

// "key rest of the line"
struct KeyedLine {
  std::string key, rest;
  Index line = 0;
};
std::vector<KeyedLine> keyed_lines(const fs::path& path) {
  LineReader reader(path.string());
  std::vector<KeyedLine> lines;
  for (std::string line; reader.next(line);) {
    constexpr const char* kSpace = " \t";
    const std::size_t begin = std::min(line.find_first_not_of(kSpace), line.size());
    const std::size_t end = std::min(line.find_first_of(kSpace, begin), line.size());
    const std::size_t rest = std::min(line.find_first_not_of(kSpace, end), line.size());
    const std::size_t last = line.find_last_not_of(kSpace);
    if (end > begin)
      lines.push_back(
          {line.substr(begin, end - begin), last < rest ? "" : line.substr(rest, last + 1 - rest), reader.number()});
  }
  return lines;
}

// A path of Kaldi's lists is relative to where its recipe ran; here it may be relative to the folder too.
std::string kaldi_path(const fs::path& folder, const std::string& path) {
  const std::optional<ArchivePlace> place = archive_place(path);
  const std::string file = place ? place->file : path;
  return !fs::exists(folder / file) && fs::exists(file) ? fs::absolute(path).string() : path;
}

// The sounds of each recording, or of each utterance if there are features.
std::map<std::string, std::string> kaldi_sounds(const fs::path& folder) {
  const bool sounds = fs::exists(folder / "wav.scp");
  const fs::path list = folder / (sounds ? "wav.scp" : "feats.scp");
  std::map<std::string, std::string> paths;
  for (const KeyedLine& line : keyed_lines(list)) {
    require(!line.rest.ends_with('|'),
            "{}:{}: {} is a command; nothing is executed here, so run it and put the path of its sound there",
            list.string(), line.line, line.rest);
    paths[line.key] = kaldi_path(folder, line.rest);
  }
  return paths;
}

// Names of the parts of recordings that are utterances.
std::map<std::string, std::string> kaldi_segments(const fs::path& list,
                                                  const std::map<std::string, std::string>& sounds) {
  std::map<std::string, std::string> parts;
  for (const KeyedLine& line : keyed_lines(list)) {
    const std::vector<std::string_view> cells = words_of_line(line.rest);
    double begin = 0, end = 0;
    const auto is_time = [](std::string_view text, double& time) {
      const auto [last, fault] = std::from_chars(text.data(), text.data() + text.size(), time);
      return fault == std::errc() && last == text.data() + text.size();
    };
    require(cells.size() >= 3 && is_time(cells[1], begin) && is_time(cells[2], end) && begin >= 0 && end > begin,
            "{}:{}: a segment is <utterance> <recording> <begin> <end>", list.string(), line.line);
    const auto sound = sounds.find(std::string(cells[0]));
    if (sound != sounds.end()) parts[line.key] = part_name({sound->second, begin, end});
  }
  return parts;
}

std::vector<Utterance> kaldi_utterances(const std::string& path, bool texts) {
  const fs::path folder(path);
  std::map<std::string, std::string> sounds = kaldi_sounds(folder);
  if (fs::exists(folder / "wav.scp") && fs::exists(folder / "segments"))
    sounds = kaldi_segments(folder / "segments", sounds);
  std::vector<Utterance> utterances;
  const std::string file = (folder / "text").string();
  if (!texts) {
    for (const auto& [name, sound] : sounds)
      utterances.push_back({sound, "", {file, static_cast<Index>(utterances.size()) + 1}});
    return utterances;
  }
  for (KeyedLine& line : keyed_lines(file)) {
    const auto sound = sounds.find(line.key);
    utterances.push_back({sound == sounds.end() ? "" : sound->second, std::move(line.rest), {file, line.line}});
  }
  return utterances;
}

bool is_transcript_list(const fs::path& path) { return path.filename().string().ends_with(".trans.txt"); }

std::vector<Utterance> librispeech_utterances(const std::string& folder, bool) {
  std::vector<fs::path> lists;
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(folder))
    if (is_transcript_list(entry.path())) lists.push_back(entry.path());
  require(!lists.empty(), "{}: there is no file that ends with .trans.txt in it", folder);
  std::sort(lists.begin(), lists.end());
  std::vector<Utterance> utterances;
  for (const fs::path& list : lists)
    for (KeyedLine& line : keyed_lines(list)) {
      Utterance utterance{"", std::move(line.rest), {list.string(), line.line}};
      for (const char* ending : {".flac", ".wav", ".opus", ".ogg", ".mp3"})
        if (utterance.sound.empty() && fs::exists(list.parent_path() / (line.key + ending)))
          utterance.sound = line.key + ending;
      utterances.push_back(std::move(utterance));
    }
  return utterances;
}

class NemoLines final : public SampleFormat {
 public:
  explicit NemoLines(SpeechColumns columns) : columns_(columns) {}

  bool next(FileLines& lines, SampleRecord& record) override {
    std::string line;
    if (!lines.next(line)) return false;
    record.place = {lines.name(), lines.number()};
    const nlohmann::json object = object_or_null(line);
    if (!object.is_object()) {
      record.fault = kNotJson;
      return true;
    }
    const auto text = [&](const char* key) {
      const auto found = object.find(key);
      return found != object.end() && found->is_string() ? found->get<std::string>() : "";
    };
    const auto number = [&](const char* key) {
      const auto found = object.find(key);
      return found != object.end() && found->is_number() ? std::max(found->get<double>(), 0.0) : 0;
    };
    std::string sound = text("audio_filepath");
    if (sound.empty()) record.fault = kWithoutSound;
    // Whole files have a duration too.
    if (const double offset = number("offset"), duration = number("duration"); object.contains("offset"))
      sound = part_name({sound, offset, duration > 0 ? std::optional(offset + duration) : std::nullopt});
    fill(record, columns_, std::move(sound), text("text"));
    return true;
  }

 private:
  SpeechColumns columns_;
};

template <FolderRecords::List list>
std::unique_ptr<SampleRecords> open_folders(const SampleFiles& files, const std::vector<SampleColumn>& columns,
                                            const char* format) {
  for (const std::string& folder : files.files) require(fs::is_directory(folder), "{}: it is no folder", folder);
  return std::make_unique<FolderRecords>(files.files, require_speech(columns, format), list);
}

const RegisterSampleFormat kaldi_format{
    {.name = "kaldi",
     .description = "folders of Kaldi: text with wav.scp (and segments) or feats.scp",
     .knows =
         [](const std::string& path, const std::vector<SampleColumn>& columns) {
           const fs::path folder(path);
           return speech_columns(columns) && (fs::exists(folder / "wav.scp") || fs::exists(folder / "feats.scp"));
         },
     .open =
         [](const SampleFiles& files, const std::vector<SampleColumn>& columns) {
           return open_folders<kaldi_utterances>(files, columns, "kaldi");
         }}};

const RegisterSampleFormat librispeech_format{
    {.name = "librispeech",
     .description = "folders of sounds with .trans.txt files",
     .knows =
         [](const std::string& path, const std::vector<SampleColumn>& columns) {
           std::error_code reason;
           if (!speech_columns(columns) || !fs::is_directory(path, reason)) return false;
           const fs::recursive_directory_iterator entries(path, reason);
           return std::any_of(begin(entries), end(entries),
                              [](const auto& entry) { return is_transcript_list(entry.path()); });
         },
     .open =
         [](const SampleFiles& files, const std::vector<SampleColumn>& columns) {
           return open_folders<librispeech_utterances>(files, columns, "librispeech");
         }}};

const RegisterSampleFormat nemo_format{
    {.name = "nemo",
     .description = "JSON lines of NeMo: audio_filepath, text, offset, duration",
     .knows =
         [](const std::string& path, const std::vector<SampleColumn>& columns) {
           if (!speech_columns(columns) || !fs::is_regular_file(path)) return false;
           FileLines lines(path);
           return lines.first().starts_with('{') && lines.first().find("\"audio_filepath\"") != std::string::npos;
         },
     .open =
         [](const SampleFiles& files, const std::vector<SampleColumn>& columns) {
           return records_in_turn(files.files, std::nullopt,
                                  std::make_unique<NemoLines>(require_speech(columns, "nemo")));
         }}};

}  // namespace
}  // namespace heed
