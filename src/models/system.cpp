#include "heed/models/system.h"

#include <algorithm>

#include "heed/attention/losses.h"
#include "heed/autograd/ops/elementwise.h"
#include "heed/autograd/ops/matrix.h"
#include "heed/autograd/ops/reduce.h"
#include "heed/autograd/ops/shape.h"
#include "heed/autograd/ops/softmax.h"
#include "heed/base/spelling.h"
#include "heed/kernels/softmax.h"
#include "heed/nn/word_screen.h"

namespace heed {
namespace {

constexpr Real kLeastProbability = 1e-20F;  // a probability may round to zero, its logarithm may not

std::vector<System>& registry() {
  static std::vector<System> list;
  return list;
}

}  // namespace

RegisterSystem::RegisterSystem(System system) {
  std::vector<System>& list = registry();
  const auto place = std::upper_bound(list.begin(), list.end(), system.name,
                                      [](const std::string& name, const System& s) { return name < s.name; });
  list.insert(place, std::move(system));
}

const std::vector<System>& systems() { return registry(); }

const System& system_named(const std::string& name) {
  std::vector<std::string> known;
  for (const System& system : registry()) {
    if (system.name == name) return system;
    known.push_back(system.name);
  }
  fail("[model] there is no model {}{}", name, did_you_mean(name, known));
}

Tensor Writer::alignment_of_words(const Tensor& rows) const {
  if (!rows || !aligns_as_read()) return rows;
  const Index last = rows.size(0) - 1, m = rows.size(1);
  Tensor words = rows.contiguous().copy();
  std::copy_n(words.data() + m, last * m, words.data());
  return words;
}

Var WordScores::generated() const {
  return logits_ ? logits_ : linear(x_, weight_, bias_, Activation::identity, flip_);
}

Index WordScores::vocabulary() const {
  if (copied_.generates) return copied_.extended;
  return logits_ ? logits_.size(-1) : weight_.size(flip_.b ? 0 : 1);
}

WordScores::Chosen WordScores::chosen(const Ids& words) const {
  require(x_ && !copied_.generates, "[shortlist] a model that copies, or whose scores are no product, has none");
  const Var bias = bias_ ? gather(bias_, 0, words) : Var();
  if (const Int8Weight* int8 = int8_factor(weight_, flip_))
    return {Var::leaf(std::make_shared<const Int8Weight>(int8->chosen(words))), bias, {.b = true}};
  return {gather(weight_, flip_.b ? 0 : 1, words), bias, flip_};
}

Var WordScores::logits() const {
  Var logits = generated();
  if (!copied_.generates) return logits;
  const auto& [generates, weights, source, extended] = copied_;
  const Index batch = weights.size(0), n = weights.size(1), m = weights.size(2), rows = batch * n;
  Ids words(Shape{rows, m});
  for (Index row = 0; row < rows; ++row) std::copy_n(source.data() + row / n * m, m, words.data() + row * m);
  const Var p =
      pointer_distribution(reshape(generates, Shape{rows, 1}), reshape(softmax(logits), Shape{rows, logits.size(-1)}),
                           reshape(weights, Shape{rows, m}), words, extended);
  return reshape(log(p + Var(Tensor::scalar(kLeastProbability))), Shape{batch, n, extended});
}

Ids WordScores::likeliest(WordScreen& screen) const {
  if (!x_ || copied_.generates) return {};
  const Ids words = screen.possible(x_.value(), weight_, bias_, flip_);
  if (!words) return {};
  const Tensor scores = of(chosen(words)).logits().value().contiguous();
  const Index count = words.size(), rows = scores.size() / count;
  Ids result(Shape{rows});
  for (Index row = 0; row < rows; ++row) {
    const Index place = kernels::largest_place(count, scores.data() + row * count);
    if (place < 0) return {};
    result.data()[row] = words.data()[place];
  }
  return result;
}

Var WordScores::cross_entropy(const Ids& expected, const CrossEntropy& options) const {
  if (copied_.generates)
    return options.label_smoothing > 0 ? heed::cross_entropy(logits(), expected, options)
                                       : copied_cross_entropy(expected, options);
  return logits_ ? heed::cross_entropy(logits_, expected, options)
                 : linear_cross_entropy(x_, weight_, bias_, expected, options, flip_);
}

Ids rows_of_texts(const Source& source, const Source& previous) {
  const Index sources = source.batch(), texts = previous.batch();
  if (sources == texts) return {};
  require(sources > 0 && texts % sources == 0, "[writer] {} texts are not equally many for each of {} sources", texts,
          sources);
  Ids rows(Shape{texts});
  for (Index i = 0; i < texts; ++i) rows.data()[i] = static_cast<std::int32_t>(i / (texts / sources));
  return rows;
}

// -Σ log(p P_v(y) + (1 - p) Σ_{j: x_j = y} a_j)
Var WordScores::copied_cross_entropy(const Ids& expected, const CrossEntropy& options) const {
  const auto& [generates, weights, source, extended] = copied_;
  require(!options.weights || options.weights.shape() == expected.shape(),
          "[cross_entropy] weights {} do not fit targets {}", options.weights.shape(), expected.shape());
  const Index n = weights.size(1), m = weights.size(2);
  const Var logits = generated();
  const Tensor weighed = options.weights ? options.weights.contiguous() : Tensor(expected.shape(), Real{1});
  Ids ids(expected.shape(), 0);  // of words that the generator knows
  Tensor known(expected.shape(), Real{0}), counts(expected.shape(), Real{0}), same(weights.shape(), Real{0});
  Index words = 0;
  for (Index i = 0; i < expected.size(); ++i) {
    const std::int32_t word = expected.data()[i];
    if (word == options.ignore) continue;
    ++words;
    counts.data()[i] = weighed.data()[i];
    if (word < logits.size(-1)) ids.data()[i] = word, known.data()[i] = 1;
    const std::int32_t* const from = source.data() + i / n * m;
    for (Index j = 0; j < m; ++j) same.data()[i * m + j] = from[j] == word ? Real{1} : Real{0};
  }
  const Var one(Tensor(generates.shape(), Real{1}));
  const Var written = generates * exp(pick(log_softmax(logits), ids)) * Var(known),
            copied = (one - generates) * sum(weights * Var(same), -1);
  const Var least(Tensor::scalar(kLeastProbability));
  const Var loss = negate(sum(log(written + copied + least) * Var(counts)));
  return options.average ? scale(loss, Real{1} / static_cast<Real>(std::max<Index>(words, 1))) : loss;
}

}  // namespace heed
