#include "attention/composition.h"

#include <cmath>
#include <memory>

#include "attention/settings.h"
#include "heed/attention/attention.h"
#include "heed/attention/losses.h"
#include "heed/attention/mechanism.h"
#include "heed/autograd/ops/elementwise.h"
#include "heed/autograd/ops/reduce.h"
#include "heed/autograd/ops/shape.h"

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

// All that a case needs: queries of some words, each n at once, over a memory that is prepared once for all of them. A
// composition that carries state is in the middle of its sentence: it looked everywhere alike so far.
struct Composition {
  Parameters parameters;
  std::unique_ptr<Attention> attention;
  Var queries, keys, values;
  Past past;
  Tensor dy, reward;
  Index queries_of_word = 1, words = 1;
  bool training = false;

  explicit Composition(Settings& settings) {
    AttentionOptions options = options_from(settings);
    const Index batch = settings.number("batch", 1), n = settings.number("n", 1), m = settings.number("m", n);
    const Index heads = options.heads, width = options.key_width;
    options.longest = m;
    queries_of_word = n;
    words = settings.number("words", 1);
    training = settings.number("training", 0);
    attention = std::make_unique<Attention>(Scope(parameters), options);
    for (Parameters::Entry& each : parameters.entries())
      filling(seed_of(each.name), static_cast<Real>(std::sqrt(3.0 / static_cast<double>(each.var.size(0)))))(
          each.var.value(), {});
    queries = Var::leaf(filled({batch, heads, n * words, width}, 1, 3));
    keys = Var::leaf(filled({batch, heads, m, width}, 2));
    values = Var::leaf(filled({batch, heads, m, width}, 3));
    if (attention->carries().any()) {
      past.weights = Tensor(Shape{batch, heads, 1, m}, 1 / static_cast<Real>(m));
      past.coverage = past.weights;
      past.read = filled({batch, heads, 1, width}, 4);
    }
    dy = filled({batch, heads, n * words, width}, 5);
    reward = filled({batch, heads, n * words}, 6);
  }

  struct Answer {
    Var read;  // [batch, heads, n · words, width]
    Var loss;  // of sampled choices (REINFORCE); empty if there are none
  };
  Answer answered() const {
    const Memory memory = attention->memory(keys, values);
    std::vector<Var> reads;
    Var loss;
    Past last = past;
    for (Index word = 0; word < words; ++word) {
      const Index begin = word * queries_of_word, end = begin + queries_of_word;
      Query query;
      query.vectors = words == 1 ? queries : slice(queries, 2, begin, end);
      query.past = last.weights || last.coverage || last.read ? &last : nullptr;
      query.training = training;
      query.key = {1, static_cast<std::uint64_t>(word)};
      const Attended attended = (*attention)(query, memory);
      reads.push_back(attended.read);
      last = attended.past;
      if (const Weighted& sampled = attended.sampled; sampled.log_probability) {
        const Tensor gained = slice(reward, 2, begin, end).value().contiguous();
        const Var part = reinforce_loss(sampled.log_probability, sampled.entropy, gained, 0);
        loss = loss ? loss + part : part;
      }
    }
    return {words == 1 ? reads.front() : concat(reads, 2), loss};
  }

  void forward(Results* results) const {
    const NoGradient no_gradient;
    const Var read = answered().read;
    if (results) *results = {{"y", read.value()}};
  }

  void forward_and_backward(Results* results) const {
    Gradients gradients;
    Tensor y;
    {
      const Answer answer = answered();
      if (results) y = answer.read.value();
      if (answer.loss) {
        backward(sum(answer.read * Var(dy)) + answer.loss, gradients);
      } else {
        backward(answer.read, dy, gradients);
      }
    }
    if (!results) return;
    *results = {{"y", y}, {"dq", gradients.of(queries)}, {"dk", gradients.of(keys)}, {"dvalues", gradients.of(values)}};
    for (const Parameters::Entry& each : parameters.entries())
      results->emplace_back("d " + each.name, gradients.of(each.var));
  }
};

// Any composition of parts by its options' names: "attention,score=general,window=local-p,batch=64,m=200,training=1";
// n queries at once of each of the words, m keys, one width for all.
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
