#include "attention/composition_cases.h"

#include <cmath>
#include <cstring>

#include "heed/attention/mechanism.h"
#include "heed/autograd/ops/shape.h"

namespace heed::test {
namespace {

template <class Visit>
void for_each_combination(const Visit& visit) {
  for (const auto& score : RegisterScore::entries())
    for (const auto& window : RegisterWindow::entries())
      for (const auto& normaliser : RegisterNormaliser::entries())
        visit(small(composed_of(score.name, window.name, normaliser.name)));
}

// The words of the refusal; empty if there is none.
std::string refused(const AttentionOptions& options) {
  try {
    const Instance instance(options);
    return "";
  } catch (const Error& error) {
    return error.what();
  }
}

template <class Part>
std::unique_ptr<Part> make(const std::string& name, const Scope& scope, const AttentionOptions& options) {
  for (const auto& entry : PartRegistry<Part>::entries())
    if (entry.name == name) return entry.make(scope, options);
  fail("[test] there is no part {}", name);
}

Tensor& value_of(Parameters& parameters, const std::string& name) {
  for (auto& entry : parameters.entries())
    if (entry.name == name) return entry.var.value();
  fail("[test] there is no parameter {}", name);
}

}  // namespace

AttentionOptions small(AttentionOptions options) {
  options.query_width = options.key_width = options.value_width = 4;
  options.longest = 6;
  options.filters = 2;
  options.filter_width = 3;
  options.rows = 2;
  options.relative = 2;
  options.half_width = 2;
  options.neighbours = 3;
  options.global_tokens = 1;
  options.temperature = 0.5;
  options.top_k = 2;
  return options;
}

AttentionOptions small_mechanism(const char* name) { return small(mechanism_named(name).options); }

std::vector<Composition> every_composition() {
  std::vector<Composition> list;
  for (const Mechanism& mechanism : mechanisms()) list.push_back({mechanism.name, small(mechanism.options)});
  for_each_combination([&](const AttentionOptions& o) {
    if (refused(o).empty()) list.push_back({o.score + " × " + o.window + " × " + o.normaliser, o});
  });
  return list;
}

std::vector<Refusal> every_refusal() {
  std::vector<Refusal> list;
  for_each_combination([&](const AttentionOptions& o) {
    if (const std::string words = refused(o); !words.empty()) list.push_back({o, words});
  });
  return list;
}

Tensor random_tensor(const Shape& shape, std::uint64_t seed, double deviation) {
  Tensor tensor(shape);
  RandomSequence random(RandomKey{seed, 11});
  for (Real& x : tensor.values()) x = static_cast<Real>(deviation * random.normal());
  return tensor;
}

Ids ids(std::initializer_list<std::int32_t> values) { return Ids(Shape{static_cast<Index>(values.size())}, values); }

bool same_bits(const Tensor& a, const Tensor& b) {
  const Tensor x = a.contiguous(), y = b.contiguous();
  return a.shape() == b.shape() && std::memcmp(x.data(), y.data(), x.values().size_bytes()) == 0;
}

double distance(const Tensor& a, const Tensor& b) {
  require(a.shape() == b.shape(), "[test] {} and {} cannot be compared", a.shape(), b.shape());
  const Tensor x = a.contiguous(), y = b.contiguous();
  double worst = 0;
  for (Index i = 0; i < x.size(); ++i) {
    const double d = std::abs(static_cast<double>(x.data()[i]) - static_cast<double>(y.data()[i]));
    if (!(d <= worst)) worst = d;
  }
  return worst;
}

void set(Parameters& parameters, const std::string& name, std::initializer_list<double> values) {
  Tensor& tensor = value_of(parameters, name);
  require(static_cast<Index>(values.size()) == tensor.size(), "[test] {} values for {} {}", values.size(), name,
          tensor.shape());
  std::transform(values.begin(), values.end(), tensor.data(), [](double x) { return static_cast<Real>(x); });
}

void fill(Parameters& parameters, const std::string& name, double value) {
  for (Real& x : value_of(parameters, name).values()) x = static_cast<Real>(value);
}

void randomise(Parameters& parameters, std::uint64_t seed, double deviation) {
  for (auto& entry : parameters.entries()) {
    RandomSequence random(RandomKey{seed, 13}.derive(entry.name));
    for (Real& x : entry.var.value().values()) x = static_cast<Real>(deviation * random.normal());
  }
}

void copy_values(const Parameters& from, Parameters& to) {
  for (auto& entry : to.entries()) {
    const Tensor& source = from.at(entry.name).value();
    std::copy_n(source.data(), source.size(), entry.var.value().data());
  }
}

Inputs random_inputs(const Sizes& sizes, std::uint64_t seed) {
  const Index batch = static_cast<Index>(sizes.lengths.size()), width = 4;
  const auto leaf = [&](Index positions, std::uint64_t stream) {
    return Var::leaf(random_tensor(Shape{batch, sizes.heads, positions, width}, 10 * seed + stream));
  };
  return {leaf(sizes.n, 1), leaf(sizes.m, 2), leaf(sizes.m, 3),
          Ids(Shape{batch}, std::span<const std::int32_t>(sizes.lengths))};
}

Answers ask(const Attention& attention, const Inputs& inputs) {
  const Memory memory = attention.memory(inputs.keys, inputs.values, inputs.lengths);
  Query query;
  query.vectors = inputs.queries;
  query.position = inputs.position;
  query.training = inputs.training;
  query.key = RandomKey{5, 5};
  if (!attention.carries().any()) {
    const Attended one = attention(query, memory);
    return {one.read, one.weights, one.sampled.log_probability, one.sampled.entropy};
  }
  std::vector<Var> read, weights, log_probability, entropy;
  Past past;
  for (Index step = 0; step < inputs.queries.size(2); ++step) {
    query.vectors = slice(inputs.queries, 2, step, step + 1);
    query.position = inputs.position + step;
    query.past = &past;
    query.key = query.key.derive(1);
    const Attended one = attention(query, memory);
    read.push_back(one.read);
    weights.push_back(one.weights);
    if (one.sampled.log_probability) log_probability.push_back(one.sampled.log_probability);
    if (one.sampled.entropy) entropy.push_back(one.sampled.entropy);
    past = one.past;
  }
  const auto joined = [](const std::vector<Var>& steps) { return steps.empty() ? Var() : concat(steps, 2); };
  return {joined(read), joined(weights), joined(log_probability), joined(entropy)};
}

std::unique_ptr<Score> make_score(const std::string& name, Parameters& parameters, const AttentionOptions& options) {
  return make<Score>(name, Scope(parameters), options);
}

std::unique_ptr<Normaliser> make_normaliser(const std::string& name, const AttentionOptions& options) {
  Parameters none;
  return make<Normaliser>(name, Scope(none), options);
}

Tensor normalised(const Normaliser& normaliser, const Tensor& scores, const Mask& visible) {
  const Index m = scores.size();
  const Var row(scores.reshape(Shape{1, 1, 1, m}));
  return normaliser(row, visible, Query()).weights.value().reshape(Shape{m});
}

}  // namespace heed::test
