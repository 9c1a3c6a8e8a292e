#pragma once

#include <initializer_list>
#include <span>
#include <string>
#include <vector>

#include "heed/attention/attention.h"

// Every composition the registries know, small enough to be checked element by element. A new part or mechanism is
// tested by being registered.

namespace heed::test {

struct Composition {
  std::string name;  // of the mechanism, or "score × window × normaliser"
  AttentionOptions options;
};

// The mechanisms, then every score × window × normaliser that is not refused.
std::vector<Composition> every_composition();
// The combinations of parts that are refused, with the words of the refusal.
struct Refusal {
  AttentionOptions options;
  std::string words;
};
std::vector<Refusal> every_refusal();

// The same parts at widths of 4 and reaches that matter in a memory of 5.
AttentionOptions small(AttentionOptions options);
AttentionOptions small_mechanism(const char* name);

Tensor random_tensor(const Shape& shape, std::uint64_t seed, double deviation = 1);
Ids ids(std::initializer_list<std::int32_t> values);
bool same_bits(const Tensor& a, const Tensor& b);
// Largest |a - b|; shapes must be equal.
double distance(const Tensor& a, const Tensor& b);

void set(Parameters& parameters, const std::string& name, std::initializer_list<double> values);
void fill(Parameters& parameters, const std::string& name, double value);
// All of them from a normal distribution: some start at zero, where gradients hide.
void randomise(Parameters& parameters, std::uint64_t seed, double deviation = 0.5);
// The numbers of every parameter of `to` from the parameter of the same name.
void copy_values(const Parameters& from, Parameters& to);

// What is asked of an attention, [batch, heads, n or m, width].
struct Inputs {
  Var queries, keys, values;
  Ids lengths;
  Index position = 0;
  bool training = false;
};
struct Sizes {
  Index heads = 1, n = 3, m = 5;
  std::vector<std::int32_t> lengths = {5, 3};
};
// Leaves of width 4.
Inputs random_inputs(const Sizes& sizes, std::uint64_t seed);

// The answers to all queries: at once, or one by one with the past carried on where the parts want that.
struct Answers {
  Var read, weights;             // [batch, heads, n, value], [batch, heads, n, m]
  Var log_probability, entropy;  // of hard choices
};
Answers ask(const Attention& attention, const Inputs& inputs);

// An attention and the parameters it lives on.
struct Instance {
  explicit Instance(const AttentionOptions& options, std::uint64_t seed = 1)
      : parameters(seed), attention(Scope(parameters), options) {}
  Parameters parameters;
  Attention attention;
};

// One part by its name, as registered.
std::unique_ptr<Score> make_score(const std::string& name, Parameters& parameters, const AttentionOptions& options);
std::unique_ptr<Normaliser> make_normaliser(const std::string& name, const AttentionOptions& options = {});
// Weights of one row of scores.
Tensor normalised(const Normaliser& normaliser, const Tensor& scores, const Mask& visible = {});

}  // namespace heed::test
