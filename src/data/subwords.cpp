#include "heed/data/subwords.h"

#include <sentencepiece_processor.h>
#include <sentencepiece_trainer.h>

#include <algorithm>
#include <array>
#include <mutex>
#include <unordered_map>

#include "heed/base/error.h"
#include "heed/base/random.h"
#include "heed/base/spelling.h"
#include "heed/base/utf8.h"

namespace heed {
namespace {

constexpr std::string_view kSpace = "▁";  // stands for the space before a word

// What SentencePiece takes for a space.
constexpr std::string_view kSpaces[] = {" ",      "\t",     "\n",     "\r",     "\v",     "\f",     "▁",
                                        "\u00a0", "\u1680", "\u2000", "\u2001", "\u2002", "\u2003", "\u2004",
                                        "\u2005", "\u2006", "\u2007", "\u2008", "\u2009", "\u200a", "\u200b",
                                        "\u2028", "\u2029", "\u202f", "\u205f", "\u3000", "\ufeff"};
// The length of the space at the front or at the back; 0 if there is none.
std::size_t space_at_front(std::string_view text) {
  const auto* found = std::ranges::find_if(kSpaces, [text](std::string_view space) { return text.starts_with(space); });
  return found == std::end(kSpaces) ? 0 : found->size();
}
std::size_t space_at_back(std::string_view text) {
  const auto* found = std::ranges::find_if(kSpaces, [text](std::string_view space) { return text.ends_with(space); });
  return found == std::end(kSpaces) ? 0 : found->size();
}

// The places of pieces whose surfaces follow each other in `text`, in bytes.
std::vector<TextPlace> places_in(std::string_view text, const sentencepiece::ImmutableSentencePieceText& split) {
  std::vector<TextPlace> places;
  std::size_t seen = 0;
  Index characters = 0;  // in what was seen
  const auto go_to = [&](std::size_t byte) {
    if (byte > seen) {
      characters += static_cast<Index>(count_characters(text.substr(seen, byte - seen)));
      seen = byte;
    }
    return characters;
  };
  for (const auto& piece : split.pieces()) {
    const std::size_t from = std::min<std::size_t>(piece.begin(), text.size());
    std::string_view left = text.substr(from, std::max<std::size_t>(piece.end(), from) - from);
    while (const std::size_t space = space_at_front(left)) left.remove_prefix(space);
    while (const std::size_t space = space_at_back(left)) left.remove_suffix(space);
    const auto begin = static_cast<std::size_t>(left.data() - text.data());
    const Index first = go_to(begin);
    places.push_back({first, go_to(begin + left.size())});
  }
  return places;
}

class Subwords final : public Vocabulary {
 public:
  Subwords(std::string bytes, const std::string& name) : bytes_(std::move(bytes)) {
    const auto status = processor_.LoadFromSerializedProto(bytes_);
    require(status.ok() && processor_.GetPieceSize() > 0, "{}: it is no model of SentencePiece, or damaged", name);
    require(
        processor_.unk_id() == kUnknown && processor_.bos_id() == kBegin && processor_.eos_id() == kEnd,
        "{}: its ids of unknown, begin and end are {}, {} and {}; they must be 0, 1 and 2, SentencePiece's defaults",
        name, processor_.unk_id(), processor_.bos_id(), processor_.eos_id());
  }
  std::vector<std::int32_t> encode(std::string_view text) const override {
    std::vector<int> ids;
    const auto status = processor_.Encode(text, &ids);
    require(status.ok(), "[subwords] {}", status.message());
    return {ids.begin(), ids.end()};
  }
  std::string decode(std::span<const std::int32_t> ids) const override {
    std::string text;
    const auto status = processor_.Decode(without_symbols(ids), &text);
    require(status.ok(), "[subwords] {}", status.message());
    return text;
  }
  std::vector<TextPlace> places(std::string_view text) const override {
    return places_in(text, processor_.EncodeAsImmutableProto(text));
  }
  std::vector<TextPlace> decoded_places(std::span<const std::int32_t> ids) const override {
    const auto decoded = processor_.DecodeIdsAsImmutableProto(without_symbols(ids));
    const std::vector<TextPlace> found = places_in(decoded.text(), decoded);
    std::vector<TextPlace> places;
    std::size_t next = 0;
    for (const std::int32_t id : ids) {
      const Index end = next > 0 ? found[next - 1].end : 0;
      places.push_back(symbol(id) ? TextPlace{end, end} : found[next++]);
    }
    return places;
  }
  std::string piece(std::int32_t id) const override {
    check(id);
    return processor_.IdToPiece(id);
  }
  Index size() const override { return processor_.GetPieceSize(); }
  std::vector<Index> word_of(std::span<const std::int32_t> ids) const override {
    std::vector<Index> words;
    Index word = -1;
    bool after_symbol = true;
    for (const std::int32_t id : ids) {
      check(id);
      if (symbol(id) || after_symbol || processor_.IdToPiece(id).starts_with(kSpace)) ++word;
      after_symbol = symbol(id);
      words.push_back(word);
    }
    return words;
  }
  std::string file_name(std::string_view side) const override { return std::string(side) + ".spm"; }
  std::string serialized() const override { return bytes_; }

 private:
  static bool symbol(std::int32_t id) { return id == kBegin || id == kEnd; }
  std::vector<int> without_symbols(std::span<const std::int32_t> ids) const {
    std::vector<int> pieces;
    for (const std::int32_t id : ids) {
      check(id);
      if (!symbol(id)) pieces.push_back(id);
    }
    return pieces;
  }
  void check(std::int32_t id) const {
    require(id >= 0 && id < size(), "[subwords] id {} is outside 0..{}", id, size() - 1);
  }

  std::string bytes_;
  sentencepiece::SentencePieceProcessor processor_;
};

class Lines final : public sentencepiece::SentenceIterator {
 public:
  explicit Lines(const std::vector<std::string>& lines) : lines_(lines) {}
  bool done() const override { return at_ == lines_.size(); }
  void Next() override { ++at_; }
  const std::string& value() const override { return lines_[at_]; }
  sentencepiece::util::Status status() const override { return {}; }

 private:
  const std::vector<std::string>& lines_;
  std::size_t at_ = 0;
};

// At most `most` lines, each with the same chance (Vitter 1985, algorithm R).
std::vector<std::string> draw_sample(const TrainingText& text, const SubwordOptions& options) {
  std::vector<std::string> sample;
  RandomSequence random(RandomKey{options.seed}.derive("subwords"));
  const auto most = static_cast<std::uint64_t>(options.sample);
  std::uint64_t seen = 0;
  text.each("subwords", [&](std::string_view line) {
    if (line.find('\0') != std::string_view::npos) return;  // SentencePiece takes it for the end
    if (seen++ < most) {
      sample.emplace_back(line);
    } else if (const std::uint64_t place = random.below(seen); place < most) {
      sample[place] = line;
    }
  });
  return sample;
}

// What SentencePiece says about sizes that do not fit, in our words.
[[noreturn]] void fail_training(std::string_view message, const SubwordOptions& options) {
  // "Vocabulary size too high (N). Please set it to a value <= M."
  constexpr std::string_view kMost = "value <= ";
  if (const std::size_t at = message.find(kMost); at != std::string_view::npos) {
    const std::string_view number = message.substr(at + kMost.size());
    fail("[subwords] the text is too small for {} pieces; there can be {} at most", options.size,
         number.substr(0, number.find_first_not_of("0123456789")));
  }
  fail("[subwords] SentencePiece cannot learn {} pieces from this text: {}", options.size, message);
}

}  // namespace

std::shared_ptr<const Vocabulary> train_subwords(const TrainingText& text, const SubwordOptions& options) {
  static const std::array<std::string, 2> kKinds{"unigram", "bpe"};
  require(options.kind == kKinds[0] || options.kind == kKinds[1], "[subwords] no kind of subwords is called {}{}",
          options.kind, did_you_mean(options.kind, kKinds));
  require(options.size > 3, "[subwords] {} pieces are too few: three are unknown, begin and end", options.size);
  require(options.coverage > 0 && options.coverage <= 1, "[subwords] coverage {} is not in (0, 1]", options.coverage);
  require(options.sample > 0, "[subwords] a sample of {} lines teaches nothing", options.sample);

  const std::vector<std::string> sample = draw_sample(text, options);
  Lines lines(sample);
  const std::unordered_map<std::string, std::string> settings{
      {"model_type", options.kind},
      {"vocab_size", std::to_string(options.size)},
      {"character_coverage", fmt::format("{}", options.coverage)},
      {"hard_vocab_limit", options.exact ? "true" : "false"},
      {"unk_id", std::to_string(kUnknown)},
      {"bos_id", std::to_string(kBegin)},
      {"eos_id", std::to_string(kEnd)},
      {"pad_id", "-1"},
      {"num_threads", "4"},  // the same everywhere: the order of the sums depends on it
      {"minloglevel", "3"},
  };
  std::string model;
  sentencepiece::util::Status status;
  {
    static std::mutex one_at_a_time;  // SentencePiece draws from one global generator
    const std::lock_guard lock(one_at_a_time);
    sentencepiece::SetRandomGeneratorSeed(static_cast<unsigned>(options.seed));
    status = sentencepiece::SentencePieceTrainer::Train(settings, &lines, &model);
  }
  if (!status.ok()) fail_training(status.message(), options);
  return subwords_from(model, "[subwords]");
}

std::shared_ptr<const Vocabulary> subwords_from(std::string_view bytes, const std::string& name) {
  return std::make_shared<Subwords>(std::string(bytes), name);
}

}  // namespace heed
