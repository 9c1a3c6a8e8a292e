#include "heed/jobs/training_task.h"

#include <algorithm>
#include <cmath>

#include "heed/attention/losses.h"
#include "heed/autograd/ops/elementwise.h"
#include "heed/autograd/ops/loss.h"
#include "heed/autograd/ops/shape.h"
#include "heed/base/threads.h"
#include "heed/data/text_file.h"
#include "heed/jobs/batched_search.h"

namespace heed {
namespace {

constexpr const char* kBaseline = "baseline";
constexpr Index kValidationWords = 2048;  // in a batch, at least; no text is left out for its length

BatchOptions data_options(const Bundle& bundle) {
  BatchOptions options;
  options.columns = bundle.job->sample_columns();
  options.gives_label = bundle.job->chooses();
  options.encode = [&bundle](const Sample& sample) { return bundle.encode_for_training(sample); };
  options.words_of = [&bundle](const EncodedSample& sample) {
    return std::vector<std::vector<Index>>{bundle.codes.inputs.front()->word_of(sample.inputs.front().words),
                                           bundle.output_words(sample).word_of(sample.output)};
  };
  options.cut_inputs = bundle.job->chooses();
  options.name_unknown = bundle.job->inputs.front().kind == Kind::sound;  // letters and phonemes are few
  return options;
}

BatchOptions validation_data(const Bundle& bundle, const Training& training) {
  BatchOptions options = data_options(bundle);
  options.cut_inputs = options.cut_inputs || training.cut_texts;
  options.files = training.validation_files();
  options.batch_tokens = std::max(kValidationWords, training.longest);  // frames of a sound may be more
  options.longest = bundle.job->chooses() ? training.longest : options.batch_tokens;
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
  const auto cut = [&](const auto& x) {
    return x ? x.slice(0, begin, end).slice(1, 0, longest_of(lengths)).contiguous() : x;
  };
  return {.words = cut(all.words),
          .lengths = lengths,
          .features = cut(all.features),
          .ends = all.ends ? all.ends.slice(0, begin, end).contiguous() : Ids(),
          .marks = cut(all.marks),
          .copies = cut(all.copies),
          .known = all.known,
          .extended = all.extended};
}

// Texts as one, each behind its length.
std::string packed(const std::vector<std::string>& texts) {
  std::string all;
  for (const std::string& text : texts) all += fmt::format("{} {}", text.size(), text);
  return all;
}
std::vector<std::string> unpacked(const std::string& all) {
  std::vector<std::string> texts;
  for (std::size_t at = 0; at < all.size();) {
    const std::size_t space = all.find(' ', at), size = std::stoul(all.substr(at, space - at));
    texts.push_back(all.substr(space + 1, size));
    at = space + 1 + size;
  }
  return texts;
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

BatchOptions JobTask::training_data() {
  BatchOptions options = data_options(bundle_);
  options.cut_inputs = options.cut_inputs || training_.cut_texts;
  options.files = training_.training_files();
  options.batch_tokens = training_.batch_words;
  options.batch_samples = training_.batch_samples;
  options.longest = training_.longest;
  options.seed = static_cast<std::uint64_t>(training_.seed);
  options.buffer = training_.buffer;
  options.unlinked_at_end = training_.alignment_end;
  if (training_.reward.empty()) return options;
  // All references belong to one sample, with which the texts that are drawn for it are compared.
  options.encode = [this](const Sample& sample) {
    EncodedSample encoded = bundle_.encode_for_training(sample);
    encoded.other_outputs.clear();
    encoded.references = sample.outputs;
    return encoded;
  };
  options.keep_encoded = true;
  options.on_sample = [this](const Sample& sample) {
    if (!reward_) references_.push_back(sample.outputs);
  };
  return options;
}

JobTask::JobTask(const Bundle& bundle, const Training& training, std::shared_ptr<Ranks> ranks)
    : bundle_(bundle),
      training_(training),
      ranks_(std::move(ranks)),
      batches_(training_data()),
      threads_(training.threads > 0 ? static_cast<int>(training.threads) : thread_count()) {
  if (!training.reward.empty()) {
    // By the references of the first buffer, the same whenever a training goes on.
    reward_ =
        std::make_unique<RewardLoss>(bundle, training.draws, text_reward_of(parse_list(training.reward), references_));
    references_ = {};
  }
  if (!training.validates()) return;
  BatchOptions validation = validation_data(bundle, training);
  validation.on_sample = [this](const Sample& sample) { validation_samples_.push_back(sample); };
  SampleBatches batches(std::move(validation));
  while (batches.position().epoch == 0) validation_.push_back(batches.next_samples());
  validation_report_ = batches.report();
}

TrainingTask::Batch JobTask::next() {
  const Index epoch = batches_.position().epoch;
  baseline_ = moved_baseline();
  rewards_.clear();
  const Index own = training_.shards / ranks_->size(), from = ranks_->rank() * own;
  batch_ = ranks_->alone() ? batches_.next() : batches_.next({from, from + own, training_.shards});
  return {epoch, reward_ ? batch_.samples : batch_.words};
}

Var JobTask::loss(Index shard, Index shards, Random& random) const {
  const Index begin = batch_.samples * shard / shards - batch_.first;
  const Index end = batch_.samples * (shard + 1) / shards - batch_.first;
  if (begin == end) return {};
  if (reward_) return reward_loss(shard, begin, end, random);
  return bundle_.writer ? writer_loss(shard, begin, end, random) : chooser_loss(begin, end, random);
}

void JobTask::keep_positions(Index shard, const Reward& reward) const {
  if (reward.words == 0) return;
  const std::lock_guard lock(mutex_);
  rewards_[shard] = reward;
}

Var JobTask::reward_loss(Index shard, Index begin, Index end, Random& random) const {
  const auto samples =
      std::span(batch_.encoded).subspan(static_cast<std::size_t>(begin), static_cast<std::size_t>(end - begin));
  const RewardLoss::Result result = (*reward_)(rows_of(batch_.inputs.front(), begin, end), samples, random, baseline_);
  keep_positions(shard, result.positions);
  return result.loss;
}

Var JobTask::writer_loss(Index shard, Index begin, Index end, Random& random) const {
  const bool guided = static_cast<bool>(batch_.alignment);
  const Source source = rows_of(batch_.inputs.front(), begin, end), previous = rows_of(batch_.previous, begin, end);
  const TeacherForced forced =
      bundle_.writer->forward(source, previous, {.random = &random, .alignment = guided, .baseline = baseline_});
  keep_positions(shard, forced.reward);
  const Ids expected = batch_.expected.slice(0, begin, end).slice(1, 0, previous.longest()).contiguous();
  Var loss = forced.words.cross_entropy(expected, {.label_smoothing = training_.label_smoothing, .average = false});
  if (forced.penalty) loss = loss + forced.penalty;
  if (guided) {
    require(static_cast<bool>(forced.alignment), "--alignments: {} has no attention to guide", bundle_.system->name);
    // Gold rows are of the words that are written; the rows of the steps that read them are the next ones.
    const Index read = bundle_.writer->aligns_as_read() ? 1 : 0, words = previous.longest() - read;
    if (words == 0) return loss;
    const Tensor gold =
        batch_.alignment.slice(0, begin, end).slice(1, 0, words).slice(2, 0, source.longest()).contiguous();
    const Var rows = slice(forced.alignment, 1, read, read + words);
    loss = loss + scale(guided_loss(rows, gold), static_cast<Real>(training_.alignment_weight));
  }
  return loss;
}

Var JobTask::chooser_loss(Index begin, Index end, Random& random) const {
  std::vector<Source> inputs;
  for (const Source& input : batch_.inputs) inputs.push_back(rows_of(input, begin, end));
  const Chosen chosen = bundle_.chooser->forward(inputs, {.random = &random});
  const Var loss = cross_entropy(chosen.scores, batch_.expected.slice(0, begin, end).contiguous(),
                                 {.label_smoothing = training_.label_smoothing, .average = false});
  return chosen.penalty ? loss + chosen.penalty : loss;
}

// In the order of the shards of all ranks.
std::vector<Reward> JobTask::rewards_of_ranks() const {
  std::vector<Reward> rewards;
  for (const auto& [shard, reward] : rewards_) rewards.push_back(reward);
  if (ranks_->alone()) return rewards;
  rewards.assign(static_cast<std::size_t>(training_.shards / ranks_->size()), {});
  for (const auto& [shard, reward] : rewards_) rewards[static_cast<std::size_t>(shard) % rewards.size()] = reward;
  rewards = ranks_->gather_equal(std::span<const Reward>(rewards));
  return rewards;
}

std::optional<double> JobTask::moved_baseline() const {
  constexpr double kKept = 0.9;
  Reward all;
  for (const Reward& reward : rewards_of_ranks()) all.total += reward.total, all.words += reward.words;
  if (all.words == 0) return baseline_;
  const double mean = all.total / static_cast<double>(all.words);
  return baseline_ ? kKept * *baseline_ + (1 - kKept) * mean : mean;
}

TrainingState JobTask::position() const {
  const SampleBatches::Position at = batches_.position();
  TrainingState state{{}, {{"epoch", static_cast<double>(at.epoch)}, {"batch", static_cast<double>(at.batch)}}};
  if (const std::optional<double> baseline = moved_baseline()) state.numbers.push_back({kBaseline, *baseline});
  return state;
}

void JobTask::seek(const TrainingState& position) {
  rewards_.clear();
  const auto baseline = std::find_if(position.numbers.begin(), position.numbers.end(),
                                     [](const NamedNumber& number) { return number.name == kBaseline; });
  baseline_ = baseline == position.numbers.end() ? std::optional<double>() : baseline->number;
  batches_.seek(
      {static_cast<Index>(position.number("epoch", "data")), static_cast<Index>(position.number("batch", "data"))});
}

// Per word or label, without label smoothing. Every rank computes some of the batches, all add them up in their order.
double JobTask::cross_entropy_of_validation() {
  const auto ranks = static_cast<std::size_t>(ranks_->size()), rank = static_cast<std::size_t>(ranks_->rank());
  std::vector<double> losses((validation_.size() + ranks - 1) / ranks);  // of batches rank, rank + ranks, ...
  for_each_batch(threads_, losses.size(), [&](std::size_t i) {
    if (i * ranks + rank >= validation_.size()) return;
    const NoGradient off;
    const SampleBatch batch = batch_of(validation_[i * ranks + rank], bundle_.job->chooses());
    const CrossEntropy summed{.average = false};
    const Var loss =
        bundle_.writer
            ? bundle_.writer->forward(batch.inputs.front(), batch.previous).words.cross_entropy(batch.expected, summed)
            : cross_entropy(bundle_.chooser->forward(batch.inputs).scores, batch.expected, summed);
    losses[i] = static_cast<double>(loss.value().item());
  });
  const std::vector<double> all = ranks_->gather_equal(std::span<const double>(losses));
  double loss = 0;
  Index words = 0;
  for (std::size_t i = 0; i < validation_.size(); ++i) loss += all[i % ranks * losses.size() + i / ranks];
  for (const std::vector<EncodedSample>& batch : validation_)
    for (const EncodedSample& sample : batch) words += words_of(sample, bundle_.job->chooses());
  return loss / static_cast<double>(words);
}

// Every rank computes some of them.
std::vector<std::string> JobTask::outputs_of_validation() {
  const auto ranks = static_cast<std::size_t>(ranks_->size());
  std::vector<const Sample*> own;
  for (std::size_t i = static_cast<std::size_t>(ranks_->rank()); i < validation_samples_.size(); i += ranks)
    own.push_back(&validation_samples_[i]);
  std::vector<std::string> found = outputs_of(own);
  if (ranks_->alone()) return found;
  std::vector<std::string> outputs(validation_samples_.size());
  const std::vector<std::string> gathered = ranks_->gather(packed(found));
  for (std::size_t rank = 0; rank < ranks; ++rank) {
    const std::vector<std::string> texts = unpacked(gathered[rank]);
    for (std::size_t i = 0; i < texts.size(); ++i) outputs[i * ranks + rank] = texts[i];
  }
  return outputs;
}

std::vector<std::string> JobTask::outputs_of(std::span<const Sample* const> chosen) {
  std::vector<EncodedSample> samples;
  for (const Sample* sample : chosen) samples.push_back(bundle_.encode_for_training(without_outputs(*sample)));
  std::vector<std::string> outputs;
  if (bundle_.chooser || training_.cut_texts)
    for (EncodedSample& sample : samples)
      for (EncodedInput& input : sample.inputs) cut_input(input, training_.longest);
  if (bundle_.chooser) {
    const Chooser* const choosers[] = {bundle_.chooser};
    const auto found = choose_batches(choosers, samples, {}, threads_);
    for (std::size_t i = 0; i < found.size(); ++i) {
      const auto best = static_cast<std::size_t>(std::max_element(found[i].begin(), found[i].end()) - found[i].begin());
      const std::vector<Choice> choices = bundle_.choose_from(*chosen[i], samples[i]);
      outputs.push_back(best < choices.size() ? choices[best].text : "");
    }
    return outputs;
  }
  BatchedSearch search;
  search.method = training_.beam == 1 ? SearchMethod::greedy : SearchMethod::beam;
  search.options.beam = training_.beam;
  search.options.length_penalty = training_.length_penalty;
  search.options.probabilities = false;
  const Writer* const writers[] = {bundle_.writer};
  const Hypotheses found = search_batches(writers, samples, search, threads_);
  for (std::size_t i = 0; i < found.size(); ++i)
    outputs.push_back(bundle_.output_words(samples[i]).decode(found[i].front().words));
  return outputs;
}

std::vector<ValidationScore> JobTask::validate() {
  if (validation_.empty()) return {};
  std::vector<ValidationScore> scores;
  const std::vector<std::string> names = training_.metric_names();
  const auto is_loss = [](const std::string& name) { return name == "cross-entropy" || name == "perplexity"; };
  const double loss = std::any_of(names.begin(), names.end(), is_loss) ? cross_entropy_of_validation() : 0;
  const std::vector<std::string> outputs =
      std::all_of(names.begin(), names.end(), is_loss) ? std::vector<std::string>{} : outputs_of_validation();
  for (const std::string& name : names) {
    if (is_loss(name)) {
      scores.push_back({name, name == "perplexity" ? std::exp(loss) : loss, false});
      continue;
    }
    const Metric& metric = bundle_.job->metric_named(name);
    scores.push_back({name, metric.measure(outputs, validation_samples_), metric.higher_is_better});
  }
  return scores;
}

bool JobTask::choices_given() const {
  return !validation_samples_.empty() && std::none_of(validation_samples_.begin(), validation_samples_.end(),
                                                      [](const Sample& sample) { return sample.choices.empty(); });
}

std::vector<std::string> JobTask::example() const {
  constexpr std::size_t kLeast = 5, kMost = 14;
  const Sample* chosen = nullptr;
  for (const Sample& sample : validation_samples_) {
    const auto fits = [](const Value& value) {
      const std::size_t words = words_of_line(value.text).size();
      return words >= kLeast && words <= kMost;
    };
    if (chosen == nullptr) chosen = &sample;
    if (!std::all_of(sample.inputs.begin(), sample.inputs.end(), fits)) continue;
    chosen = &sample;
    break;
  }
  std::vector<std::string> texts;
  for (std::size_t i = 0; chosen != nullptr && i < chosen->inputs.size(); ++i) {
    if (!is_text(bundle_.job->inputs[i].kind)) return {};
    texts.push_back(chosen->inputs[i].text);
  }
  return texts;
}

}  // namespace heed
