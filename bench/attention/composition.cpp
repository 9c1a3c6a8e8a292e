#include "attention/composition.h"

#include <cmath>
#include <memory>

#include "attention/settings.h"
#include "heed/attention/attention.h"
#include "heed/attention/losses.h"
#include "heed/attention/mechanism.h"
#include "heed/autograd/ops/elementwise.h"
#include "heed/autograd/ops/reduce.h"

namespace heed::bench {
namespace {

// A seed that depends on a parameter's name alone (FNV-1a, 32 bits).
std::uint32_t seed_of(const std::string& name) {
  std::uint32_t hash = 0x811c9dc5u;
  for (const char c : name) hash = (hash ^ static_cast<unsigned char>(c)) * 0x01000193u;
  return hash;
}

AttentionOptions options_from(Settings& settings) {
  AttentionOptions options;
  options.visit([&]<class T>(const char* name, T& field, const char*) {
    if constexpr (std::is_same_v<T, std::string>) {
      field = settings.word(name, field);
    } else if constexpr (std::is_same_v<T, double>) {
      field = settings.real(name, field);
    } else {
      field = settings.number(name, field);
    }
  });
  options.query_width = options.key_width = options.value_width = settings.number("width", 64);
  return options;
}

// All that one call needs. A composition that carries state is in the middle of its sentence: it looked everywhere
// alike so far.
struct Composition {
  Parameters parameters;
  std::unique_ptr<Attention> attention;
  Var queries, keys, values;
  Past past;
  Tensor dy, reward;
  bool training = false;

  explicit Composition(Settings& settings) {
    AttentionOptions options = options_from(settings);
    const Index batch = settings.number("batch", 1), n = settings.number("n", 1), m = settings.number("m", n);
    const Index heads = options.heads, width = options.key_width;
    options.longest = m;
    training = settings.number("training", 0);
    attention = std::make_unique<Attention>(Scope(parameters), options);
    for (auto& [name, var] : parameters.entries())
      filling(seed_of(name), static_cast<Real>(std::sqrt(3.0 / static_cast<double>(var.size(0)))))(var.value(), {});
    queries = Var::leaf(filled({batch, heads, n, width}, 1, 3));
    keys = Var::leaf(filled({batch, heads, m, width}, 2));
    values = Var::leaf(filled({batch, heads, m, width}, 3));
    if (attention->carries().any()) {
      past.weights = Tensor(Shape{batch, heads, 1, m}, 1 / static_cast<Real>(m));
      past.coverage = past.weights;
      past.read = filled({batch, heads, 1, width}, 4);
    }
    dy = filled({batch, heads, n, width}, 5);
    reward = filled({batch, heads, n}, 6);
  }

  Attended attended() const {
    Query query;
    query.vectors = queries;
    query.past = past.weights ? &past : nullptr;
    query.training = training;
    query.key = {1, 0};
    return (*attention)(query, attention->memory(keys, values));
  }

  void forward(Results* results) const {
    const NoGradient no_gradient;
    const Var read = attended().read;
    if (results) *results = {{"y", read.value()}};
  }

  // A sampled choice has its REINFORCE loss besides.
  void forward_and_backward(Results* results) const {
    Gradients gradients;
    Tensor y;
    {
      const Attended result = attended();
      if (results) y = result.read.value();
      if (const Weighted& sampled = result.sampled; sampled.log_probability) {
        const Var loss = reinforce_loss(sampled.log_probability, sampled.entropy, reward, 0);
        backward(sum(result.read * Var(dy)) + loss, gradients);
      } else {
        backward(result.read, dy, gradients);
      }
    }
    if (!results) return;
    *results = {{"y", y}, {"dq", gradients.of(queries)}, {"dk", gradients.of(keys)}, {"dvalues", gradients.of(values)}};
    for (const auto& [name, var] : parameters.entries()) results->emplace_back("d " + name, gradients.of(var));
  }
};

// Any composition of parts by its options' names: "attention,score=general,window=local-p,batch=64,m=200,training=1";
// n queries, m keys, one width for all.
const Family attention("attention", [](Settings& settings) -> Step {
  const auto composition = std::make_shared<const Composition>(settings);
  if (!composition->training) return [=](Results* results) { composition->forward(results); };
  return [=](Results* results) { composition->forward_and_backward(results); };
});

}  // namespace

nlohmann::json registered_mechanisms() {
  nlohmann::json list = nlohmann::json::array();
  for (const Mechanism& mechanism : mechanisms()) {
    AttentionOptions options = mechanism.options;
    nlohmann::json differing = nlohmann::json::object(), usual = nlohmann::json::object();
    AttentionOptions().visit([&](const char* name, const auto& field, const char*) { usual[name] = field; });
    options.visit([&](const char* name, const auto& field, const char*) {
      if (usual[name] != nlohmann::json(field)) differing[name] = field;
    });
    options.query_width = options.key_width = options.value_width = 2;
    options.longest = 4;
    Parameters scratch;
    list.push_back({{"name", mechanism.name},
                    {"options", differing},
                    {"one_query", Attention(Scope(scratch), options).carries().any()}});
  }
  return list;
}

}  // namespace heed::bench
