// The C++ side of the Python package: NumPy arrays in and out without copies, heed::Error as ValueError.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/map.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "heed/attention/attention.h"
#include "heed/attention/mechanism.h"
#include "heed/autograd/ops/shape.h"
#include "heed/base/spelling.h"
#include "arrays.h"
#include "runner.h"

namespace nb = nanobind;

namespace {

using heed::Ids;
using heed::Index;
using heed::Shape;
using heed::Tensor;
using heed::Var;

using FloatArray = nb::ndarray<const float, nb::c_contig, nb::device::cpu>;
using BoolArray = nb::ndarray<const bool, nb::c_contig, nb::device::cpu>;
using IntArray = nb::ndarray<const std::int32_t, nb::c_contig, nb::device::cpu>;
using NumpyArray = nb::ndarray<nb::numpy, const float>;

template <class Array>
Shape shape_of(const Array& array) {
  heed::require(array.ndim() <= Shape::kMaxRank, "[array] at most {} axes are supported, not {}", int{Shape::kMaxRank},
                array.ndim());
  std::vector<Index> sizes;
  for (std::size_t i = 0; i < array.ndim(); ++i) sizes.push_back(static_cast<Index>(array.shape(i)));
  return Shape(std::span<const Index>(sizes));
}

// A view that keeps the array alive. It is only read.
Tensor view_of(const FloatArray& array) {
  auto* owner = new FloatArray(array);
  auto release = [](void* kept) {
    const nb::gil_scoped_acquire locked;
    delete static_cast<FloatArray*>(kept);
  };
  auto* data = const_cast<float*>(array.data());
  return Tensor(heed::memory::Buffer::foreign(data, owner, release), data, shape_of(array));
}

// Fields of AttentionOptions from keyword arguments with underscores.
struct ReadOptions {
  nb::dict given;
  std::vector<std::string> known;

  void operator()(const char* name, std::string& value, const char*) { take(name, value); }
  void operator()(const char* name, Index& value, const char*) { take(name, value); }
  void operator()(const char* name, double& value, const char*) { take(name, value); }
  void operator()(const char* name, bool& value, const char*) { take(name, value); }

 private:
  template <class T>
  void take(std::string name, T& value) {
    for (char& c : name)
      if (c == '-') c = '_';
    known.push_back(name);
    const nb::str key(name.c_str());
    if (!given.contains(key)) return;
    heed::require(nb::try_cast<T>(given[key], value), "[attend] option {} has a value of the wrong type", name);
  }
};

heed::AttentionOptions options_from(const nb::dict& given) {
  heed::AttentionOptions options;
  if (given.contains("mechanism")) options = heed::mechanism_named(nb::cast<std::string>(given["mechanism"])).options;
  ReadOptions reader{given, {"mechanism"}};
  options.visit(reader);
  for (const auto& [key, value] : given) {
    const std::string name = nb::cast<std::string>(key);
    heed::require(std::find(reader.known.begin(), reader.known.end(), name) != reader.known.end(),
                  "[attend] there is no option {}{}", name, heed::did_you_mean(name, reader.known));
  }
  return options;
}

// [n, d] and [batch, n, d] as [batch, heads, n, d].
Var with_four_axes(const Var& x, const char* name) {
  heed::require(x.rank() >= 2 && x.rank() <= 4,
                "[attend] {} has shape {}; [n, d], [batch, n, d] and [batch, heads, n, d] are possible", name,
                x.shape());
  const Index batch = x.rank() >= 3 ? x.size(0) : 1, heads = x.rank() == 4 ? x.size(1) : 1;
  return reshape(x, Shape{batch, heads, x.size(-2), x.size(-1)});
}

// Fewer heads of keys and values than of queries (grouped-query attention, Ainslie et al. 2023): each serves as many
// heads of queries as the others.
Var for_each_query_head(const Var& x, Index heads, const char* name) {
  const Index batch = x.size(0), own = x.size(1), m = x.size(2), width = x.size(3);
  if (own == heads) return x;
  heed::require(own > 0 && heads % own == 0, "[attend] {} heads of q cannot share {} heads of {}", heads, own, name);
  const Var repeated = expand(reshape(x, Shape{batch, own, 1, m, width}), Shape{batch, own, heads / own, m, width});
  return reshape(repeated, Shape{batch, heads, m, width});
}

class Attended {
 public:
  Attended(const FloatArray& q, const FloatArray& k, const FloatArray& v, const std::optional<IntArray>& lengths,
           const std::optional<BoolArray>& mask, const nb::dict& given,
           const std::map<std::string, FloatArray>& parameters, std::uint64_t seed)
      : parameters_(std::make_unique<heed::Parameters>(seed)),
        q_(Var::leaf(view_of(q))),
        k_(Var::leaf(view_of(k))),
        v_(Var::leaf(view_of(v))) {
    const Var queries = with_four_axes(q_, "q");
    const Var keys = for_each_query_head(with_four_axes(k_, "k"), queries.size(1), "k"),
              values = for_each_query_head(with_four_axes(v_, "v"), queries.size(1), "v");
    heed::require(q_.rank() == k_.rank() && k_.rank() == v_.rank(), "[attend] q {}, k {} and v {} differ in axes",
                  q_.shape(), k_.shape(), v_.shape());
    heed::AttentionOptions options = options_from(given);
    options.query_width = queries.size(-1);
    options.key_width = keys.size(-1);
    options.value_width = values.size(-1);
    options.heads = queries.size(1);
    if (options.longest == 0) options.longest = keys.size(2);

    const heed::Attention attention(heed::Scope(*parameters_), options);
    for (const auto& [name, array] : parameters) {
      Tensor value = view_of(array);
      Tensor& target = const_cast<Var&>(parameters_->at(name)).value();
      heed::require(value.shape() == target.shape(), "[attend] parameter {} has shape {}, not {}", name, target.shape(),
                    value.shape());
      std::copy_n(value.data(), value.size(), target.data());
    }
    Ids true_lengths;
    if (lengths) {
      true_lengths = Ids(shape_of(*lengths));
      std::copy_n(lengths->data(), true_lengths.size(), true_lengths.data());
    }
    const heed::Memory memory = attention.memory(keys, values, true_lengths);
    heed::Query query;
    query.vectors = queries;
    if (mask) {
      query.visible = heed::Mask(shape_of(*mask));
      std::copy_n(mask->data(), query.visible.size(), query.visible.data());
    }
    heed::Attended result = attention(query, memory);
    weights_ = std::move(result.weights);
    read_ = reshape(result.read, q_.shape().with(-1, v_.size(-1)));
  }

  NumpyArray read() const { return array_of(read_.value()); }
  // Only what is asked for is computed; empty lists mean all.
  NumpyArray weights(const std::vector<Index>& rows, const std::vector<Index>& heads) const {
    return array_of(weights_.rows(rows, heads));
  }
  std::vector<Index> shape() const {
    const Shape shape = weights_.shape();
    return {shape.sizes().begin(), shape.sizes().end()};
  }
  nb::dict summaries(Index top_count) const {
    const heed::AttentionWeights::Summaries found = weights_.summaries(top_count);
    nb::dict result;
    result["entropy"] = array_of(found.entropy);
    result["column_sums"] = array_of(found.column_sums);
    result["top"] = array_of(found.top_keys);
    result["top_weights"] = array_of(found.top);
    return result;
  }

  std::map<std::string, NumpyArray> parameters() const {
    std::map<std::string, NumpyArray> result;
    for (const auto& entry : parameters_->entries()) result.emplace(entry.name, array_of(entry.var.value()));
    return result;
  }

  std::map<std::string, NumpyArray> backward(const FloatArray& dread) {
    heed::Gradients gradients;
    heed::backward(read_, view_of(dread), gradients);
    std::map<std::string, NumpyArray> result{
        {"q", array_of(gradients.of(q_))}, {"k", array_of(gradients.of(k_))}, {"v", array_of(gradients.of(v_))}};
    for (const auto& entry : parameters_->entries()) result.emplace(entry.name, array_of(gradients.of(entry.var)));
    return result;
  }

 private:
  std::unique_ptr<heed::Parameters> parameters_;
  Var q_, k_, v_, read_;
  heed::AttentionWeights weights_;
};

nb::list attentions() {
  nb::list result;
  for (const heed::Mechanism& m : heed::mechanisms()) {
    nb::dict entry, cost;
    cost["time"] = m.cost.time;
    cost["memory"] = m.cost.memory;
    cost["steps"] = m.cost.steps;
    cost["path"] = m.cost.path;
    entry["name"] = m.name;
    entry["paper"] = m.paper;
    entry["equation"] = m.equation;
    entry["score"] = m.options.score;
    entry["window"] = m.options.window;
    entry["normaliser"] = m.options.normaliser;
    entry["cost"] = cost;
    result.append(entry);
  }
  return result;
}

template <class Part>
std::vector<std::string> part_names() {
  std::vector<std::string> names;
  for (const auto& entry : heed::PartRegistry<Part>::entries()) names.push_back(entry.name);
  std::sort(names.begin(), names.end());
  return names;
}

}  // namespace

NB_MODULE(_core, module) {
  nb::register_exception_translator([](const std::exception_ptr& thrown, void*) {
    try {
      std::rethrow_exception(thrown);
    } catch (const heed::Error& error) {
      PyErr_SetString(PyExc_ValueError, error.what());
    }
  });
  // The arrays own their tensors; properties would by default tie them to this object as well.
  nb::class_<Attended>(module, "Attended")
      .def(nb::init<const FloatArray&, const FloatArray&, const FloatArray&, const std::optional<IntArray>&,
                    const std::optional<BoolArray>&, const nb::dict&, const std::map<std::string, FloatArray>&,
                    std::uint64_t>())
      .def_prop_ro("read", &Attended::read, nb::rv_policy::automatic)
      .def("weights", &Attended::weights, nb::arg("rows"), nb::arg("heads"), nb::rv_policy::automatic)
      .def_prop_ro("shape", &Attended::shape)
      .def("summaries", &Attended::summaries, nb::arg("top_count"))
      .def_prop_ro("parameters", &Attended::parameters, nb::rv_policy::automatic)
      .def("backward", &Attended::backward, nb::arg("dread"));
  module.def("attentions", &attentions);
  module.def("scores", &part_names<heed::Score>);
  module.def("windows", &part_names<heed::Window>);
  module.def("normalisers", &part_names<heed::Normaliser>);
  add_runner(module);
}
