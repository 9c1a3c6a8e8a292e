#include "heed/attention/additive.h"

#include "heed/attention/parts.h"
#include "heed/autograd/ops/elementwise.h"
#include "heed/nn/linear.h"

namespace heed {
namespace {

Index inner_width(const AttentionOptions& options) {
  return options.score_width > 0 ? options.score_width : options.query_width;
}

// How the parameters start: Bahdanau's maps are tiny and v is zero, so that the first weights are uniform.
struct Start {
  LinearOptions maps;
  Initialiser v;
};

// Bahdanau, Cho, Bengio 2015.   e = vᵀ tanh(W q + U k), no biases.
// Luong, Pham, Manning 2015.    e = vᵀ tanh(W [q; k]): the same, W's upper rows for the query, its lower for the key.
class Additive final : public Score {
 public:
  Additive(const Scope& scope, const AttentionOptions& options, const Start& start)
      : query_map_(scope / "query", options.query_width, inner_width(options), start.maps),
        key_map_(scope / "key", options.key_width, inner_width(options), start.maps),
        v_(scope.parameter("v", Shape{inner_width(options)}, start.v)) {}
  Var prepare(const Var& keys, Index) const override { return key_map_(keys); }
  Var operator()(const Query& query, const Memory& memory) const override {
    return additive_scores(query_map_(query.vectors), memory.prepared, v_, memory.lengths);
  }
  bool alone() const override { return true; }

 private:
  Linear query_map_, key_map_;
  Var v_;
};

// The form of Luong's released code: the key's block of W is the identity.   e = vᵀ tanh(W q + k)
class ConcatIdentity final : public Score {
 public:
  ConcatIdentity(const Scope& scope, const AttentionOptions& options)
      : query_map_(scope / "query", options.query_width, options.key_width, {.bias = false}),
        v_(scope.parameter("v", Shape{options.key_width}, init::uniform(-0.1, 0.1))) {}
  Var operator()(const Query& query, const Memory& memory) const override {
    return additive_scores(query_map_(query.vectors), memory.prepared, v_, memory.lengths);
  }
  bool alone() const override { return true; }

 private:
  Linear query_map_;
  Var v_;
};

// Rocktäschel et al. 2016, word by word.   e = wᵀ tanh(W^y y + W^h h + W^r r'),  r = Σ α y + tanh(W^t r'), where r' is
// the last step's read (zero at the first).
class WordByWord final : public Score {
 public:
  WordByWord(const Scope& scope, const AttentionOptions& options)
      : query_map_(scope / "query", options.query_width, inner_width(options), {.bias = false}),
        key_map_(scope / "key", options.key_width, inner_width(options), {.bias = false}),
        read_map_(scope / "read", options.value_width, inner_width(options), {.bias = false}),
        transition_(scope / "transition", options.value_width, options.value_width,
                    {.bias = false, .activation = Activation::tanh}),
        v_(scope.parameter("v", Shape{inner_width(options)}, init::uniform(-0.1, 0.1))) {}
  Carries carries() const override { return {.read = true}; }
  Var prepare(const Var& keys, Index) const override { return key_map_(keys); }
  Var operator()(const Query& query, const Memory& memory) const override {
    const Var asked = query_map_(query.vectors);
    return additive_scores(later(query) ? asked + read_map_(query.past->read) : asked, memory.prepared, v_,
                           memory.lengths);
  }
  Var reread(const Var& read, const Var&, const Query& query) const override {
    return later(query) ? read + transition_(query.past->read) : read;
  }

 private:
  static bool later(const Query& query) { return query.past && query.past->read; }
  Linear query_map_, key_map_, read_map_, transition_;
  Var v_;
};

template <class Part>
std::unique_ptr<Score> made(const Scope& scope, const AttentionOptions& options) {
  return std::make_unique<Part>(scope, options);
}

const RegisterScore additive{{"additive", "a small network over query and key", "e = v.tanh(W q + U k)",
                              "Bahdanau, Cho, Bengio 2015", [](const Scope& scope, const AttentionOptions& options) {
                                const Start start{{.bias = false, .initialise = init::normal(0.001)}, init::zeros()};
                                return std::make_unique<Additive>(scope, options, start);
                              }}};
const RegisterScore concat_score{{"concat", "a small network over the two joined", "e = v.tanh(W [q; k])",
                                  "Luong, Pham, Manning 2015", [](const Scope& scope, const AttentionOptions& options) {
                                    const Start start{{.bias = false}, init::uniform(-0.1, 0.1)};
                                    return std::make_unique<Additive>(scope, options, start);
                                  }}};
const RegisterScore concat_identity{{"concat-identity", "concat with the key's block fixed to the identity",
                                     "e = v.tanh(W q + k)", "Luong, Pham, Manning 2015, released code",
                                     made<ConcatIdentity>}};
const RegisterScore word_by_word{{"word-by-word", "additive, with the last read among the inputs",
                                  "e = w.tanh(Wy y + Wh h + Wr r'), r = sum(a y) + tanh(Wt r')",
                                  "Rocktäschel et al. 2016", made<WordByWord>}};

}  // namespace
}  // namespace heed
