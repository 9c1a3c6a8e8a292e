#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "heed/autograd/var.h"
#include "heed/base/random.h"

namespace heed {

// Fills a new parameter. The key is derived from the seed and the parameter's name, so that the values do not depend
// on the order in which parameters are made.
using Initialiser = std::function<void(Tensor&, RandomKey)>;

namespace init {
Initialiser zeros();
Initialiser constant(double value);
Initialiser uniform(double low, double high);
Initialiser normal(double deviation);
// U(-a, a), a = √(6 / (fan_in + fan_out)) (Glorot & Bengio 2010); the fans are the last two axes.
Initialiser glorot();
// Rows (or columns, whichever are fewer) orthonormal (Saxe et al. 2014). A matrix [n, k·n] gets one orthogonal n×n
// block per gate.
Initialiser orthogonal();
}  // namespace init

// The values of a parameter by its name and shape, from whoever has them, such as a file: an Error of its own if there
// are none. What it gives is the parameter, not copied: a tensor, or a leaf that is held in eight bits.
using GivenValues = std::function<Var(const std::string& name, const Shape& shape)>;

// What a model does with a parameter, which decides whether it can be held in eight bits: anything; multiplies by it, x
// W; or looks its rows up and multiplies by its transpose.
enum class Use { anything, factor, table };

// All trainable tensors of a model, by name, in the order they were made.
class Parameters {
 public:
  struct Entry {
    std::string name;
    Var var;
    Use use = Use::anything;
  };

  explicit Parameters(std::uint64_t seed = 1) : key_{seed, 0} {}
  Parameters(const Parameters&) = delete;
  Parameters& operator=(const Parameters&) = delete;

  // From now on new parameters get what is given, and initialisers are not called; an empty function ends it.
  void give(GivenValues given) { given_ = std::move(given); }
  // From now on new factors and tables are held in eight bits, to be run and not to be trained. One with a number that
  // is not finite is an Error.
  void round_to_int8() { int8_ = true; }
  // A new parameter; the name must be new.
  Var add(const std::string& name, const Shape& shape, const Initialiser& initialise, Use use = Use::anything);
  const Var& at(const std::string& name) const;
  bool contains(const std::string& name) const { return positions_.count(name) > 0; }
  const std::vector<Entry>& entries() const { return entries_; }
  std::vector<Entry>& entries() { return entries_; }
  // Numbers in all parameters together.
  Index count() const;
  // Whether any is held in eight bits.
  bool in_int8() const;

 private:
  RandomKey key_;
  GivenValues given_;
  bool int8_ = false;
  std::vector<Entry> entries_;
  std::unordered_map<std::string, std::size_t> positions_;
};

// A place in the naming tree: layers take one and name their parameters below it ("encoder.layer0.weight").
class Scope {
 public:
  Scope(Parameters& parameters, std::string prefix = "")  // NOLINT: the parameters themselves are the outermost scope
      : parameters_(&parameters), prefix_(std::move(prefix)) {}
  Scope operator/(std::string_view name) const { return {*parameters_, full(name)}; }
  Var parameter(std::string_view name, const Shape& shape, const Initialiser& initialise,
                Use use = Use::anything) const {
    return parameters_->add(full(name), shape, initialise, use);
  }

 private:
  std::string full(std::string_view name) const {
    return prefix_.empty() ? std::string(name) : prefix_ + "." + std::string(name);
  }
  Parameters* parameters_;
  std::string prefix_;
};

}  // namespace heed
