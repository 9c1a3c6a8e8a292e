#include "heed/serve/run_work.h"

#include <algorithm>

namespace heed {
namespace {

bool are_long(const Job& job, std::span<const SentSample> samples, const WorkOptions& options) {
  Index pieces = 0;
  for (const SentSample& sample : samples) pieces += estimated_pieces(job, sample);
  return pieces > options.short_pieces;
}

// Work of the same name is done together.
std::string together_with(Index best, const WritingOptions& writing) {
  const OutputLimits& limits = writing.limits;
  return fmt::format("run {} {} {} {} {}", best, limits.least_words, limits.most_words, limits.most_bytes,
                     writing.no_repeat);
}

}  // namespace

RunWork::RunWork(const Model& model, std::vector<SentSample> samples, Index best, const WorkOptions& options,
                 std::shared_ptr<HttpReply> reply, const WritingOptions& writing)
    : Work(model, together_with(best, writing), are_long(*model->bundle().job, samples, options), std::move(reply)),
      samples_(std::move(samples)),
      best_(best),
      options_(options),
      writing_(writing) {}

WorkCount RunWork::run(const std::vector<Work*>& together) const {
  const Job& job = *model().bundle().job;
  WorkCount count;
  std::vector<Sample> samples;
  for (const Work* each : together)
    for (const SentSample& sent : static_cast<const RunWork&>(*each).samples_) {
      samples.push_back(decoded_sample(job, sent));
      count.words += count_words(job, sent);
    }
  RunOptions options;
  options.search.batch.samples = options_.batch_sentences;
  options.search.options.best = best_;
  options.search.options.beam = std::max(options.search.options.beam, best_);
  options.search.options.no_repeat = writing_.no_repeat;
  options.limits = {options_.longest_input, TooLong::refuse};
  options.outputs = writing_.limits;
  options.on_step = [&] { check_wanted(together); };
  const std::vector<std::vector<Result>> results = model().runner().run(samples, options);
  count.sentences = static_cast<Index>(samples.size());
  for (const std::vector<Result>& result : results) count.words += count_words(result.front().text);
  std::vector<HttpResponse> answers;
  std::span<const std::vector<Result>> rest(results);
  for (const Work* each : together) {
    const auto& work = static_cast<const RunWork&>(*each);
    answers.push_back(work.answer(rest.first(work.samples_.size())));
    rest = rest.subspan(work.samples_.size());
  }
  for (std::size_t i = 0; i < together.size(); ++i) together[i]->reply().send(std::move(answers[i]));
  return count;
}

TextLines::TextLines(const std::string& name, std::span<const std::string> texts, const RequestLimits& limits) {
  for (const std::string& text : texts) {
    const std::size_t before = lines_.size();
    for (std::size_t begin = 0; begin <= text.size();) {
      const std::size_t end = std::min(text.find('\n', begin), text.size());
      lines_.push_back(text.substr(begin, end - begin));
      begin = end + 1;
    }
    counts_.push_back(lines_.size() - before);
  }
  if (static_cast<Index>(lines_.size()) > limits.texts)
    refuse(422, "{} has {} lines; at most {} are allowed", name, lines_.size(), limits.texts);
}

std::vector<SentSample> TextLines::samples() const {
  std::vector<SentSample> samples;
  for (const std::string& line : lines_) samples.push_back({{line, false}});
  return samples;
}

std::vector<std::vector<std::string>> TextLines::join(std::span<const std::vector<Result>> results, Index count) const {
  std::vector<std::vector<std::string>> texts;
  for (const std::size_t lines : counts_) {
    std::vector<std::string>& ranks = texts.emplace_back(static_cast<std::size_t>(count));
    for (std::size_t rank = 0; rank < ranks.size(); ++rank)
      for (std::size_t i = 0; i < lines; ++i) {
        if (i > 0) ranks[rank] += '\n';
        ranks[rank] += results[i][rank < results[i].size() ? rank : 0].text;
      }
    results = results.subspan(lines);
  }
  return texts;
}

void check_wanted(const std::vector<Work*>& together) {
  if (std::none_of(together.begin(), together.end(), [](const Work* work) { return work->wanted(); }))
    refuse(499, "nobody waits for this any more");
}

Index count_words(std::string_view text) {
  Index count = 0;
  bool inside = false;
  for (const char c : text) {
    const bool white = c == ' ' || c == '\t' || c == '\n' || c == '\r';
    count += !white && !inside ? 1 : 0;
    inside = !white;
  }
  return count;
}

Index count_words(const Job& job, const SentSample& sample) {
  Index count = 0;
  for (std::size_t i = 0; i < job.inputs.size(); ++i)
    if (is_text(job.inputs[i].kind)) count += count_words(sample[i].bytes);
  return count;
}

Index estimated_pieces(const Job& job, const SentSample& sample) {
  constexpr Index kBytesOfAPiece = 4, kBytesOfARegion = 256;
  Index pieces = 0;
  for (std::size_t i = 0; i < job.inputs.size(); ++i) {
    const auto bytes = static_cast<Index>(sample[i].bytes.size());
    pieces += is_text(job.inputs[i].kind) ? std::max(count_words(sample[i].bytes), bytes / kBytesOfAPiece)
                                          : bytes / kBytesOfARegion;
  }
  return pieces;
}

}  // namespace heed
