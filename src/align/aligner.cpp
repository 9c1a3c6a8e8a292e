#include "heed/align/aligner.h"

#include <algorithm>
#include <type_traits>
#include <utility>

#include "heed/align/share_work.h"

namespace heed {
namespace {

constexpr std::size_t kPairsOfBlock = 128;

}  // namespace

// What one thread needs for a pair of sentences in one direction, and what it counts.
struct Aligner::Work {
  Work(std::size_t given, std::size_t written)
      : cells((given + 1) * written), matrix((given + 1) * written), sums(given, written) {}

  std::vector<std::uint64_t> cells;
  std::vector<float> matrix;  // [written, 1 + given]
  std::size_t size = 0;       // of both for the pair
  JumpModel::Sums sums;
  DiagonalModel::Counts diagonal;
  JumpModel::Counts jumps;

  std::span<const std::uint64_t> used_cells() const { return std::span(cells).first(size); }
  std::span<const float> used_matrix() const { return std::span(matrix).first(size); }
};
struct Aligner::PairWork {
  Work forward, backward;
};

WordLinks BothAlignments::links(const Bitext& text, std::size_t pair, Join join) const {
  return joined(std::span(forward).subspan(text.target.begin(pair), text.target[pair].size()),
                std::span(backward).subspan(text.source.begin(pair), text.source[pair].size()), join);
}

Aligner::Direction::Direction(const NumberedSentences& given, const NumberedSentences& written,
                              const AlignerOptions& options, std::size_t longest)
    : table(given, written),
      diagonal(options.null_probability),
      jumps(options.null_probability, std::max(longest, given.longest())) {}

std::vector<Aligner::PairWork> Aligner::workers_for(const Bitext& text) {
  const std::size_t source = text.source.longest(), target = text.target.longest();
  return {static_cast<std::size_t>(thread_count()), PairWork{{source, target}, {target, source}}};
}

void Aligner::find_posteriors(const Direction& direction, Stage stage, NumberedSentences::Sentence given,
                              NumberedSentences::Sentence written, Work& work) {
  work.size = (given.size() + 1) * written.size();
  const std::span matrix = std::span(work.matrix).first(work.size);
  direction.table.find(given, written, std::span(work.cells).first(work.size), matrix);
  if (stage == Stage::diagonal) {
    direction.diagonal.posteriors(given.size(), written.size(), matrix, work.diagonal);
  } else {
    direction.jumps.posteriors(given.size(), written.size(), matrix, work.sums, work.jumps);
  }
}

// Calls use(work, number) for every pair with words on both sides, where the matrices of work are its posteriors.
template <class Use>
void Aligner::each_pair(const Bitext& text, Stage stage, std::vector<PairWork>& workers,
                        const AlignerProgress& progress, const Use& use) const {
  share_work(text.size(), kPairsOfBlock, std::span(workers), [&](PairWork& work, std::size_t n) {
    if (progress && (n + 1) % kPairsOfBlock == 0) progress(kPairsOfBlock);
    const NumberedSentences::Sentence source = text.source[n], target = text.target[n];
    if (source.empty() || target.empty()) return;
    find_posteriors(forward_, stage, source, target, work.forward);
    find_posteriors(backward_, stage, target, source, work.backward);
    use(work, n);
  });
  if (progress) progress(static_cast<Index>(text.size() % kPairsOfBlock));
}

void Aligner::learn(const Bitext& text, Stage stage, std::vector<PairWork>& workers, const AlignerProgress& progress) {
  each_pair(text, stage, workers, progress, [&](PairWork& work, std::size_t n) {
    const std::size_t sources = text.source[n].size(), targets = text.target[n].size();
    if (options_.agree)
      for (std::size_t s = 0; s < sources; ++s)
        for (std::size_t t = 0; t < targets; ++t) {
          float& one = work.forward.matrix[t * (sources + 1) + s + 1];
          float& other = work.backward.matrix[s * (targets + 1) + t + 1];
          one = other = one * other;
        }
    forward_.table.count(work.forward.used_cells(), work.forward.used_matrix());
    backward_.table.count(work.backward.used_cells(), work.backward.used_matrix());
  });
  forward_.table.maximise(options_.prior);
  backward_.table.maximise(options_.prior);
}

Aligner::Aligner(const Bitext& text, const AlignerOptions& options, std::size_t longest,
                 const AlignerProgress& progress)
    : options_(options),
      forward_(text.source, text.target, options, longest),
      backward_(text.target, text.source, options, longest) {
  DiagonalModel::Sizes forward_sizes, backward_sizes;
  for (std::size_t n = 0; n < text.size(); ++n) {
    const std::size_t sources = text.source[n].size(), targets = text.target[n].size();
    if (sources == 0 || targets == 0) continue;
    ++forward_sizes[{sources, targets}];
    ++backward_sizes[{targets, sources}];
  }
  std::vector<PairWork> workers = workers_for(text);
  const auto gathered = [&workers](Work PairWork::*direction, auto Work::*counts) {
    std::remove_cvref_t<decltype(workers.front().forward.*counts)> sum;
    for (PairWork& work : workers) sum += std::exchange((work.*direction).*counts, {});
    return sum;
  };
  for (Index round = 0; round < options.diagonal_rounds; ++round) {
    learn(text, Stage::diagonal, workers, progress);
    const auto forward = gathered(&PairWork::forward, &Work::diagonal);
    const auto backward = gathered(&PairWork::backward, &Work::diagonal);
    if (round == 0) continue;  // the first alignments are the prior's own
    forward_.diagonal.maximise(forward, forward_sizes);
    backward_.diagonal.maximise(backward, backward_sizes);
  }
  for (Index round = 0; round < options.jump_rounds; ++round) {
    learn(text, Stage::jumps, workers, progress);
    forward_.jumps.maximise(gathered(&PairWork::forward, &Work::jumps));
    backward_.jumps.maximise(gathered(&PairWork::backward, &Work::jumps));
  }
}

BothAlignments Aligner::align(const Bitext& text, const AlignerProgress& progress) const {
  BothAlignments both{std::vector<std::int32_t>(text.target.words().size(), -1),
                      std::vector<std::int32_t>(text.source.words().size(), -1)};
  std::vector<PairWork> workers = workers_for(text);
  const auto take_best = [](const Work& work, std::size_t given, std::size_t written, std::int32_t* from) {
    for (std::size_t j = 0; j < written; ++j) {
      const float* const row = work.matrix.data() + j * (given + 1);
      from[j] = static_cast<std::int32_t>(std::max_element(row, row + given + 1) - row) - 1;
    }
  };
  const Stage stage = options_.jump_rounds > 0 ? Stage::jumps : Stage::diagonal;
  each_pair(text, stage, workers, progress, [&](PairWork& work, std::size_t n) {
    const std::size_t sources = text.source[n].size(), targets = text.target[n].size();
    take_best(work.forward, sources, targets, both.forward.data() + text.target.begin(n));
    take_best(work.backward, targets, sources, both.backward.data() + text.source.begin(n));
  });
  return both;
}

}  // namespace heed
