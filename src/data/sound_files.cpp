#include "heed/data/sound_files.h"

#include <sndfile.h>
#include <soxr.h>

#include <algorithm>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <memory>

#include "heed/base/error.h"
#include "heed/base/file.h"
#include "heed/data/archive.h"
#include "heed/data/sound_matrices.h"

namespace heed {
namespace {

static_assert(std::endian::native == std::endian::little, "numbers of files are taken as they lie");
constexpr std::size_t kLargestSoundFile = std::size_t{256} << 20;

// Bytes in memory as libsndfile wants to read them.
struct MemoryFile {
  std::string_view bytes;
  sf_count_t at = 0;

  static MemoryFile& of(void* user) { return *static_cast<MemoryFile*>(user); }
  static sf_count_t size(void* user) { return static_cast<sf_count_t>(of(user).bytes.size()); }
  static sf_count_t seek(sf_count_t offset, int whence, void* user) {
    MemoryFile& file = of(user);
    const sf_count_t base = whence == SEEK_SET ? 0 : whence == SEEK_CUR ? file.at : size(user);
    return file.at =
               std::clamp<sf_count_t>(base + std::clamp<sf_count_t>(offset, -size(user), size(user)), 0, size(user));
  }
  static sf_count_t read(void* target, sf_count_t count, void* user) {
    MemoryFile& file = of(user);
    const sf_count_t taken = std::clamp<sf_count_t>(count, 0, size(user) - file.at);
    std::memcpy(target, file.bytes.data() + file.at, static_cast<std::size_t>(taken));
    file.at += taken;
    return taken;
  }
  static sf_count_t write(const void*, sf_count_t, void*) { return 0; }
  static sf_count_t tell(void* user) { return of(user).at; }
};

// A sound that is being decoded, its channels mixed into one.
class OpenSound {
 public:
  OpenSound(std::string_view bytes, std::string name) : name_(std::move(name)), memory_{bytes} {
    SF_VIRTUAL_IO calls{MemoryFile::size, MemoryFile::seek, MemoryFile::read, MemoryFile::write, MemoryFile::tell};
    file_.reset(sf_open_virtual(&calls, SFM_READ, &info_, &memory_));
    require(file_ != nullptr, "{}: it is no sound that can be read here: {}", name_, sf_strerror(nullptr));
    require(info_.samplerate >= kLowestRate && info_.samplerate <= kHighestRate,
            "{}: {} samples per second are outside {}..{}", name_, info_.samplerate, kLowestRate, kHighestRate);
    require(info_.channels >= 1, "{}: it has no channel", name_);
  }

  double rate() const { return info_.samplerate; }
  // As its header says; MP3 only estimates it.
  double seconds() const { return static_cast<double>(info_.frames) / rate(); }

  // From `begin` to `end`, or to the end of the sound.
  std::vector<float> read(double begin = 0, std::optional<double> end = {}) {
    const auto first = static_cast<sf_count_t>(std::llround(begin * rate()));
    const bool known = info_.frames < SF_COUNT_MAX;
    const double last = end.value_or(known ? seconds() : begin + kLongestSound);
    require(last - begin <= kLongestSound && (last - begin) * rate() <= static_cast<double>(kMostSamples),
            "{}: it has {:.0f} seconds of sound at {:.0f} Hz; {:.0f} seconds and {} samples can be taken at once, so "
            "name a part of it, as in {}#t=0,60",
            name_, last - begin, rate(), kLongestSound, kMostSamples, name_);
    require(first == 0 || sf_seek(file_.get(), first, SEEK_SET) == first, "{}: its sound ends before {} seconds", name_,
            begin);
    const bool estimated = (info_.format & SF_FORMAT_TYPEMASK) == SF_FORMAT_MPEG || !known;
    const auto wanted = static_cast<std::size_t>(std::llround(last * rate()) - first);
    std::vector<float> samples = mixed(end || !estimated ? wanted : static_cast<std::size_t>(kMostSamples));
    require(!samples.empty(), "{}: there is no sound in it", name_);
    require(end || estimated || samples.size() == wanted, "{}: it is cut off: {} of {} samples are there", name_,
            samples.size(), wanted);
    // Ends of segments are often rounded up a little.
    require(!end || static_cast<double>(wanted - samples.size()) <= 0.1 * rate(),
            "{}: its sound ends before {} seconds", name_, last);
    return samples;
  }

 private:
  struct Close {
    void operator()(SNDFILE* file) const { sf_close(file); }
  };

  // At most so many samples of the mean of the channels.
  std::vector<float> mixed(std::size_t most) {
    constexpr sf_count_t kBlock = 4096;
    const auto channels = static_cast<std::size_t>(info_.channels);
    std::vector<float> block(static_cast<std::size_t>(kBlock) * channels), samples;
    while (samples.size() < most) {
      const auto wanted = std::min<sf_count_t>(kBlock, static_cast<sf_count_t>(most - samples.size()));
      const sf_count_t found = sf_readf_float(file_.get(), block.data(), wanted);
      if (found <= 0) break;
      for (std::size_t i = 0; i < static_cast<std::size_t>(found); ++i) {
        float sum = 0;
        for (std::size_t c = 0; c < channels; ++c) sum += block[i * channels + c];
        require(std::isfinite(sum), "{}: its sample {} is no number", name_, samples.size());
        samples.push_back(sum / static_cast<float>(channels));
      }
    }
    require(sf_error(file_.get()) == SF_ERR_NO_ERROR, "{}: it is damaged after {} samples: {}", name_, samples.size(),
            sf_strerror(file_.get()));
    return samples;
  }

  std::string name_;
  MemoryFile memory_;
  SF_INFO info_{};
  std::unique_ptr<SNDFILE, Close> file_;
};

template <class T>
T number_at(std::string_view bytes, std::size_t at) {
  T number;
  std::memcpy(&number, bytes.data() + at, sizeof(T));
  return number;
}

// libsndfile takes what is there of these for the whole.
void require_whole(std::string_view bytes, const std::string& name) {
  if (bytes.starts_with("RIFF")) {
    for (std::size_t at = 12; at + 8 <= bytes.size();) {
      const auto size = number_at<std::uint32_t>(bytes, at + 4);
      if (bytes.substr(at, 4) == "data") {
        // Who writes into a pipe does not know the length and says the largest one.
        constexpr std::uint32_t kUnknown = 0x7fff0000;
        require(size >= kUnknown || size <= bytes.size() - at - 8,
                "{}: it is cut off: {} of {} bytes of sound are there", name, bytes.size() - at - 8, size);
        return;
      }
      at += 8 + std::size_t{size} + size % 2;
    }
  }
  if (bytes.starts_with("OggS")) {
    const std::size_t last = bytes.rfind("OggS");
    bool whole = last + 27 <= bytes.size() && (bytes[last + 5] & 4) != 0;
    if (whole) {
      const auto segments = static_cast<unsigned char>(bytes[last + 26]);
      std::size_t end = last + 27 + segments;
      whole = end <= bytes.size();
      for (std::size_t i = last + 27; whole && i < last + 27 + segments; ++i)
        end += static_cast<unsigned char>(bytes[i]);
      whole = whole && end <= bytes.size();
    }
    require(whole, "{}: it is cut off: its last page is missing", name);
  }
}

std::string_view view_of(const MappedFile& file) {
  return {reinterpret_cast<const char*>(file.bytes().data()), file.bytes().size()};
}

// Of a file of any length only what is needed is read.
std::string read_part(const SoundPart& part) {
  const auto cut = [&part](std::string_view bytes) {
    OpenSound sound(bytes, part.file);
    return wav_bytes(sound.read(part.begin, part.end), static_cast<Index>(sound.rate()));
  };
  if (!std::filesystem::exists(part.file)) return cut(read_file_or_member(part.file, kLargestSoundFile));
  return cut(view_of(MappedFile(part.file)));
}

// A time of a fragment: empty, or all of the text is a number of seconds.
bool parse_time(std::string_view text, std::optional<double>& time) {
  if (text.empty()) return true;
  double value = 0;
  const auto [end, fault] = std::from_chars(text.data(), text.data() + text.size(), value);
  time = value;
  return fault == std::errc() && end == text.data() + text.size() && std::isfinite(value) && value >= 0;
}

const RegisterKindDecoder sound_decoder{
    {Kind::sound,
     {".wav", ".flac", ".ogg", ".oga", ".opus", ".mp3", ".aiff", ".aif", ".au", ".sph", ".npy", ".mfc", ".ark"},
     "",
     decode_sound,
     read_sound}};

}  // namespace

std::optional<SoundPart> sound_part(const std::string& name) {
  const std::size_t mark = name.rfind("#t=");
  if (mark == std::string::npos) return {};
  const std::string_view times = std::string_view(name).substr(mark + 3);
  const std::size_t comma = std::min(times.find(','), times.size());
  std::optional<double> begin, end;
  if (!parse_time(times.substr(0, comma), begin) || !parse_time(times.substr(std::min(comma + 1, times.size())), end))
    return {};
  if (!begin && !end) return {};
  require(!end || *end > begin.value_or(0), "{}: it ends before it begins", name);
  return SoundPart{name.substr(0, mark), begin.value_or(0), end};
}

std::string part_name(const SoundPart& part) {
  return fmt::format("{}#t={}{}", part.file, part.begin, part.end ? fmt::format(",{}", *part.end) : "");
}

std::string read_sound(const std::string& name) {
  if (const std::optional<SoundPart> part = sound_part(name)) return read_part(*part);
  if (const std::optional<ArchivePlace> place = archive_place(name)) return read_archived(*place);
  return read_file_or_member(name, kLargestSoundFile);
}

Value decode_sound(std::string_view bytes, const std::string& name) {
  if (std::optional<Tensor> matrix = decode_matrix(bytes, name))
    return {.numbers = std::move(*matrix), .frame_seconds = kMatrixStep};
  require_whole(bytes, name);
  OpenSound sound(bytes, name);
  const std::vector<float> samples = sound.read();
  Tensor numbers(Shape{static_cast<Index>(samples.size()), 1});
  std::copy(samples.begin(), samples.end(), numbers.data());
  return {.numbers = std::move(numbers), .rate = sound.rate()};
}

std::string wav_bytes(std::span<const float> samples, Index rate) {
  std::string bytes;
  const auto put = [&bytes](auto number) { bytes.append(reinterpret_cast<const char*>(&number), sizeof(number)); };
  const auto data = static_cast<std::uint32_t>(samples.size() * sizeof(std::int16_t));
  bytes.reserve(44 + data);
  bytes += "RIFF";
  put(std::uint32_t{36} + data);
  bytes += "WAVEfmt ";
  put(std::uint32_t{16});
  put(std::uint16_t{1});  // plain numbers
  put(std::uint16_t{1});  // channels
  put(static_cast<std::uint32_t>(rate));
  put(static_cast<std::uint32_t>(rate) * 2);  // bytes per second
  put(std::uint16_t{2});                      // bytes per sample of all channels
  put(std::uint16_t{16});                     // bits
  bytes += "data";
  put(data);
  for (const float sample : samples)
    put(static_cast<std::int16_t>(std::lrint(std::clamp(sample * 32768.0F, -32768.0F, 32767.0F))));
  return bytes;
}

std::vector<float> resampled(std::span<const float> samples, double rate, double wanted) {
  if (rate == wanted) return {samples.begin(), samples.end()};
  std::vector<float> result(static_cast<std::size_t>(std::ceil(static_cast<double>(samples.size()) * wanted / rate)));
  std::size_t used = 0, made = 0;
  const soxr_error_t fault = soxr_oneshot(rate, wanted, 1, samples.data(), samples.size(), &used, result.data(),
                                          result.size(), &made, nullptr, nullptr, nullptr);
  require(fault == nullptr, "[sound] {} Hz cannot become {} Hz: {}", rate, wanted, fault);
  result.resize(made);
  return result;
}

}  // namespace heed
