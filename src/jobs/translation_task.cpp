#include "heed/jobs/translation_task.h"

#include <algorithm>
#include <cmath>

#include "heed/attention/losses.h"
#include "heed/autograd/ops/elementwise.h"
#include "heed/autograd/ops/loss.h"
#include "heed/base/threads.h"
#include "heed/data/text_file.h"
#include "heed/base/utf8.h"
#include "heed/metrics/bleu.h"
#include "heed/metrics/chrf.h"
#include "heed/jobs/batched_search.h"

namespace heed {
namespace {

constexpr Index kValidationWords = 2048;  // a batch; its sentences are never left out for their length

PairOptions training_data(const TranslationBundle& bundle, const TranslationTraining& training) {
  PairOptions options;
  options.source_files = parse_list(training.source);
  options.target_files = parse_list(training.target);
  options.tsv = training.tsv;
  options.source = bundle.source;
  options.target = bundle.target;
  options.batch_tokens = training.batch_words;
  options.batch_sentences = training.batch_sentences;
  options.longest = training.longest_sentence;
  options.seed = static_cast<std::uint64_t>(training.seed);
  options.buffer = training.buffer;
  options.alignments = training.alignments;
  return options;
}

PairOptions validation_data(const TranslationBundle& bundle, const TranslationTraining& training) {
  PairOptions options;
  options.source_files = parse_list(training.valid_source);
  options.target_files = parse_list(training.valid_target);
  options.source = bundle.source;
  options.target = bundle.target;
  options.batch_tokens = kValidationWords;
  options.longest = kValidationWords;
  options.shuffle = false;
  return options;
}

Index longest_of(const Ids& lengths) {
  const auto values = lengths.values();
  return *std::max_element(values.begin(), values.end());
}

// Rows [begin, end), no wider than the longest of them.
Source rows_of(const Source& all, Index begin, Index end) {
  const Ids lengths = all.lengths.slice(0, begin, end).contiguous();
  return {all.words.slice(0, begin, end).slice(1, 0, longest_of(lengths)).contiguous(), lengths};
}

// All lines of the files; one that is not UTF-8 counts as empty.
std::vector<std::string> lines_of(const std::string& files) {
  std::vector<std::string> lines;
  for (const std::string& file : parse_list(files))
    for (std::string& line : LineReader(file).rest()) lines.push_back(valid_utf8(line) ? std::move(line) : "");
  return lines;
}

// Guided alignment, summed over the output words that have links.
Var guided_loss(const Var& alignment, const Tensor& gold) {
  Index aligned = 0;
  const Index width = gold.size(-1);
  for (Index at = 0; at < gold.size(); at += width)
    aligned += std::any_of(gold.data() + at, gold.data() + at + width, [](Real x) { return x > 0; });
  return scale(guided_alignment_loss(alignment, gold), static_cast<Real>(aligned));
}

}  // namespace

TranslationTask::TranslationTask(const TranslationBundle& bundle, const TranslationTraining& training)
    : bundle_(bundle),
      training_(training),
      batches_(training_data(bundle, training)),
      threads_(training.threads > 0 ? static_cast<int>(training.threads) : thread_count()) {
  if (training.valid_source.empty()) return;
  PairBatches pairs(validation_data(bundle, training));
  while (pairs.position().epoch == 0) validation_.push_back(pairs.next());
  validation_report_ = pairs.report();
  for (const std::string& line : lines_of(training.valid_source))
    validation_sources_.push_back(bundle.source->encode(line));
  for (const std::string& line : lines_of(training.valid_target)) references_.push_back({line});
  require(validation_sources_.size() == references_.size(), "--valid-target: {} lines for {} of --valid-source",
          references_.size(), validation_sources_.size());
}

TrainingTask::Batch TranslationTask::next() {
  const Index epoch = batches_.position().epoch;
  batch_ = batches_.next();
  return {epoch, batch_.target_words};
}

Var TranslationTask::loss(Index shard, Index shards, Random& random) const {
  const Index sentences = batch_.source.batch();
  const Index begin = sentences * shard / shards, end = sentences * (shard + 1) / shards;
  if (begin == end) return {};
  const bool guided = static_cast<bool>(batch_.alignment);
  const Source source = rows_of(batch_.source, begin, end), previous = rows_of(batch_.previous, begin, end);
  TeacherForced forced = bundle_.model->forward(source, previous, {.random = &random, .alignment = guided});
  const Ids expected = batch_.expected.slice(0, begin, end).slice(1, 0, previous.longest()).contiguous();
  Var loss = forced.words.cross_entropy(expected, {.label_smoothing = training_.label_smoothing, .average = false});
  if (forced.penalty) loss = loss + forced.penalty;
  if (guided) {
    require(static_cast<bool>(forced.alignment), "--alignments: {} has no attention to guide", bundle_.name);
    const Tensor gold = batch_.alignment.slice(0, begin, end)
                            .slice(1, 0, previous.longest())
                            .slice(2, 0, source.longest())
                            .contiguous();
    loss = loss + scale(guided_loss(forced.alignment, gold), static_cast<Real>(training_.alignment_weight));
  }
  return loss;
}

TrainingState TranslationTask::position() const {
  const PairBatches::Position at = batches_.position();
  return {{}, {{"epoch", static_cast<double>(at.epoch)}, {"batch", static_cast<double>(at.batch)}}};
}

void TranslationTask::seek(const TrainingState& position) {
  batches_.seek(
      {static_cast<Index>(position.number("epoch", "data")), static_cast<Index>(position.number("batch", "data"))});
}

// A word, without label smoothing.
double TranslationTask::cross_entropy_of_validation() {
  std::vector<double> losses(validation_.size());
  for_each_batch(threads_, validation_.size(), [&](std::size_t i) {
    const NoGradient off;
    const PairBatch& batch = validation_[i];
    const TeacherForced forced = bundle_.model->forward(batch.source, batch.previous);
    losses[i] = static_cast<double>(forced.words.cross_entropy(batch.expected, {.average = false}).value().item());
  });
  double loss = 0;
  Index words = 0;
  for (std::size_t i = 0; i < losses.size(); ++i) loss += losses[i], words += validation_[i].target_words;
  return loss / static_cast<double>(words);
}

std::vector<std::string> TranslationTask::translations_of_validation() {
  BatchedSearch search;
  search.method = training_.beam == 1 ? SearchMethod::greedy : SearchMethod::beam;
  search.options.beam = training_.beam;
  search.options.length_penalty = training_.length_penalty;
  const Writer* const models[] = {bundle_.model.get()};
  std::vector<std::string> texts;
  for (const std::vector<Hypothesis>& best : search_batches(models, validation_sources_, search, threads_))
    texts.push_back(bundle_.target->decode(best.front().words));
  return texts;
}

std::vector<ValidationScore> TranslationTask::validate() {
  if (validation_.empty()) return {};
  std::vector<ValidationScore> scores;
  const std::vector<std::string> metrics = parse_list(training_.metrics);
  const auto asked_for = [&metrics](const char* one, const char* other) {
    return std::any_of(metrics.begin(), metrics.end(), [&](const std::string& m) { return m == one || m == other; });
  };
  const double loss = asked_for("cross-entropy", "perplexity") ? cross_entropy_of_validation() : 0;
  const std::vector<std::string> texts =
      asked_for("bleu", "chrf") ? translations_of_validation() : std::vector<std::string>{};
  for (const std::string& metric : metrics) {
    if (metric == "bleu") scores.push_back({metric, corpus_bleu(texts, references_).score, true});
    if (metric == "chrf") scores.push_back({metric, corpus_chrf(texts, references_), true});
    if (metric == "cross-entropy") scores.push_back({metric, loss, false});
    if (metric == "perplexity") scores.push_back({metric, std::exp(loss), false});
  }
  return scores;
}

}  // namespace heed
