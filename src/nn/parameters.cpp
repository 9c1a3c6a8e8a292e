#include "heed/nn/parameters.h"

#include <algorithm>
#include <cmath>

namespace heed {
namespace init {

Initialiser constant(double value) {
  return [value](Tensor& tensor, RandomKey) {
    std::fill(tensor.values().begin(), tensor.values().end(), static_cast<Real>(value));
  };
}

Initialiser zeros() { return constant(0); }

Initialiser uniform(double low, double high) {
  return [low, high](Tensor& tensor, RandomKey key) {
    RandomSequence random(key);
    for (Real& x : tensor.values()) x = static_cast<Real>(low + (high - low) * random.uniform());
  };
}

Initialiser normal(double deviation) {
  return [deviation](Tensor& tensor, RandomKey key) {
    RandomSequence random(key);
    for (Real& x : tensor.values()) x = static_cast<Real>(deviation * random.normal());
  };
}

Initialiser glorot() {
  return [](Tensor& tensor, RandomKey key) {
    require(tensor.rank() >= 2, "[glorot] needs a matrix, not shape {}", tensor.shape());
    const double fans = static_cast<double>(tensor.size(-1) + tensor.size(-2));
    const double limit = std::sqrt(6.0 / std::max(1.0, fans));
    uniform(-limit, limit)(tensor, key);
  };
}

Initialiser orthogonal() {
  return [](Tensor& tensor, RandomKey key) {
    require(tensor.rank() == 2, "[orthogonal] needs a matrix, not shape {}", tensor.shape());
    const Index rows = tensor.size(0), columns = tensor.size(1);
    const Index width = columns > rows && columns % rows == 0 ? rows : columns;  // of one block
    const Index vectors = std::min(rows, width), length = std::max(rows, width);
    RandomSequence random(key);
    for (Index block = 0; block < columns; block += width) {
      // Gram and Schmidt's process on Gaussian vectors, each orthogonalised twice for full accuracy.
      std::vector<std::vector<double>> basis;
      while (static_cast<Index>(basis.size()) < vectors) {
        std::vector<double> v(static_cast<std::size_t>(length));
        for (double& x : v) x = random.normal();
        for (int pass = 0; pass < 2; ++pass) {
          for (const auto& b : basis) {
            double dot = 0;
            for (std::size_t i = 0; i < v.size(); ++i) dot += v[i] * b[i];
            for (std::size_t i = 0; i < v.size(); ++i) v[i] -= dot * b[i];
          }
        }
        double norm = 0;
        for (const double x : v) norm += x * x;
        norm = std::sqrt(norm);
        if (norm < 1e-8) continue;
        for (double& x : v) x /= norm;
        basis.push_back(std::move(v));
      }
      for (Index r = 0; r < rows; ++r)
        for (Index c = 0; c < width; ++c) {
          const auto i = static_cast<std::size_t>(r), j = static_cast<std::size_t>(c);
          tensor.data()[r * columns + block + c] = static_cast<Real>(rows <= width ? basis[i][j] : basis[j][i]);
        }
    }
  };
}

}  // namespace init

namespace {

Var held_in_int8(const std::string& name, const Tensor& value, Use use) {
  const auto outputs = use == Use::table ? Int8Weight::Outputs::first : Int8Weight::Outputs::last;
  try {
    return Var::leaf(std::make_shared<const Int8Weight>(value, outputs));
  } catch (const Error& error) {
    fail("parameter {}: {}", name, error.what());
  }
}

}  // namespace

Var Parameters::add(const std::string& name, const Shape& shape, const Initialiser& initialise, Use use) {
  require(!contains(name), "[parameters] there is a parameter {} already", name);
  Var var = given_ ? given_(name, shape) : Var(Tensor(shape));
  if (!given_) initialise(var.value(), key_.derive(name));
  if (!var.wants_gradient())
    var = int8_ && use != Use::anything ? held_in_int8(name, var.value(), use) : Var::leaf(var.value());
  positions_.emplace(name, entries_.size());
  entries_.push_back({name, std::move(var), use});
  return entries_.back().var;
}

const Var& Parameters::at(const std::string& name) const {
  const auto it = positions_.find(name);
  require(it != positions_.end(), "[parameters] there is no parameter {}", name);
  return entries_[it->second].var;
}

bool Parameters::in_int8() const {
  return std::any_of(entries_.begin(), entries_.end(),
                     [](const Entry& entry) { return entry.var.held_in_int8() != nullptr; });
}

Index Parameters::count() const {
  Index total = 0;
  for (const Entry& entry : entries_) total += entry.var.size();
  return total;
}

}  // namespace heed
