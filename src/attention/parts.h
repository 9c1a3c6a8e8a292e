#pragma once

#include <array>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "heed/attention/fused.h"
#include "heed/attention/options.h"
#include "heed/base/random.h"
#include "heed/nn/parameters.h"

// The parts attention is composed of:  attention = score × window × normaliser × reader.
//
// One layout serves RNN steps and Transformer layers: queries [batch, heads, n, width], keys [batch, heads, m, width],
// weights [batch, heads, n, m]. An RNN step has one head and n = 1.

namespace heed {

// What a mechanism must remember from its last step; it declares it, no one casts to find out.
struct Carries {
  bool weights = false;   // the last step's weights
  bool coverage = false;  // the sum of all steps' weights
  bool read = false;      // the last step's read
  bool any() const { return weights || coverage || read; }
};

// The memory of past steps, [batch, heads, 1, m] and [batch, heads, 1, value]. Empty members at the first step.
struct Past {
  Var weights, coverage, read;
};

// A tensor [batch, heads, capacity, width] whose first positions are a memory's, which may grow into the rest. All rows
// of one position are neighbours, since they come together.
struct GrowingRoom {
  GrowingRoom(Index batch, Index heads, Index capacity, Index width);
  // Copies x [batch, heads, k, width], or the rows `chosen` of it, to the positions from `first` on.
  void put(const Tensor& x, Index first, const Ids& chosen = {});

  Tensor whole;
  Index filled = 0;
};

// What is attended to. Positions at or beyond a sentence's length never take part.
struct Memory {
  Var keys;      // [batch, heads, m, key]; of a memory by reference, as many rows as were ever needed
  Var values;    // [batch, heads, m, value]; likewise
  Ids lengths;   // [batch], each in 0..m
  Var prepared;  // what the score made of the keys, once for all steps
  // Factors on the weights of the queries at positions 0, 1, ..., the same for all heads: [batch, positions, m]. All 1,
  // which changes nothing, they are there for their gradient: α ∂L/∂α, summed over the heads. Empty: none.
  Var gates = {};
  // Where keys, values and prepared stand if there is room behind them to grow; empty until the memory first grows.
  std::array<std::shared_ptr<GrowingRoom>, 3> rooms = {};
  // Without a gradient, a memory by reference moves nothing when rows are selected: position j of row i stands in row
  // rows[i, j] of keys, values and prepared. Empty: in row i. Where the attention's steps read keys wherever they
  // stand.
  bool by_reference = false;
  Ids rows = {};  // [batch, m]
  // Likewise of an attention whose queries ask alone (Score::alone): row i is row shared[i] of keys, values and
  // prepared, and rows that share one ask it together. Empty: row i.
  bool shares = false;
  Ids shared = {};  // [batch]

  Index batch() const { return rows ? rows.size(0) : shared ? shared.size() : keys.size(0); }
  Index heads() const { return keys.size(1); }
  Index size() const { return keys.size(2); }
  // Whether the score makes nothing of the keys: `prepared` is them.
  bool keys_as_they_are() const { return prepared.value().data() == keys.value().data(); }
  // Row i of the batch becomes what row rows[i] was; rows may be repeated, dropped and reordered. Room to grow into
  // stays.
  void select(const Ids& chosen);
  // The same with every position in its own row.
  Memory gathered() const;
};

// Who asks.
struct Query {
  Var vectors;         // [batch, heads, n, query]
  Index position = 0;  // of the first of the n queries in its own sequence
  const Past* past = nullptr;
  Mask visible;  // what may be seen of what the window shows, broadcastable to [batch, heads, n, m]; empty: all
  bool training = false;
  RandomKey key;        // for normalisers that sample
  RandomKey batch_key;  // the same at all steps of a batch, for what is decided once
  // The weights will be asked for and come with the call: a fused step keeps them; anything longer or with a gradient
  // is composed, which has them, instead of fused and then composed a second time.
  bool weights = false;
  // All queries of a sequence: where there is but one, it is computed as several are, so that its numbers do not depend
  // on the sequences beside it.
  bool whole = false;
  // By the definition, even where a fused kernel could. For tests.
  bool composed = false;

  Index count() const { return vectors.size(2); }
};

// What the fused kernel takes of a score:  e_ij = rule(scale q_i·k_j).
struct FusedScore {
  Var queries;  // [batch, heads, n, width]
  Var keys;     // [batch, heads, m, width]
  Real scale = 1;
  ScoreRule rule = {};  // scores alone; hides nothing
};
// What it takes of a window: a band around the query's own position, the first query standing at 0, and what a rule
// hides of it.
struct FusedWindow {
  Band band = {};
  ScoreRule rule = {};  // hides alone; changes no scores
};

// e = score(query, keys [, past]): [batch, heads, n, m].
class Score {
 public:
  virtual ~Score() = default;
  // Work on the keys that all queries share, the first of them at `position`; [batch, heads, m, any].
  virtual Var prepare(const Var& keys, Index position) const {
    static_cast<void>(position);
    return keys;
  }
  virtual Var operator()(const Query& query, const Memory& memory) const = 0;
  // For scores that the fused kernel can compute; they carry nothing and leave the read as it is.
  virtual std::optional<FusedScore> fused(const Query& query, const Memory& memory) const {
    static_cast<void>(query), static_cast<void>(memory);
    return std::nullopt;
  }
  // Whether it is but products of queries and keys to the fused kernel, without a rule.
  virtual bool plain_products() const { return false; }
  // Whether a query's scores come of its vector and the keys alone, wherever it stands and whoever asks beside it.
  virtual bool alone() const { return false; }
  virtual Carries carries() const { return {}; }
  // Whether it reads the queries' vectors; otherwise only their number counts.
  virtual bool asks() const { return true; }
  // How many rows of weights come of so many queries.
  virtual Index rows(Index queries) const { return queries; }
  // For scores that also change what is read (relative values, a read that remembers): [batch, heads, n, value].
  virtual Var reread(const Var& read, const Var& weights, const Query& query) const {
    static_cast<void>(weights), static_cast<void>(query);
    return read;
  }
};

// Which pairs may be seen, beyond padding, and an optional gain on the weights.
struct View {
  Mask visible;  // broadcastable to [batch, heads, n, m]; empty: all
  Var gain;      // multiplies the weights after the normaliser, not renormalised; empty: none
};
class Window {
 public:
  virtual ~Window() = default;
  virtual View operator()(const Query& query, const Memory& memory) const = 0;
  // For windows that the fused kernel can hold to; they carry nothing and have no gain.
  virtual std::optional<FusedWindow> fused(const Query& query) const {
    static_cast<void>(query);
    return std::nullopt;
  }
  virtual Carries carries() const { return {}; }
};

// e → weights; rows with nothing visible get zeros.
struct Weighted {
  Var weights;          // [batch, heads, n, m]
  Var log_probability;  // of a sampled choice, [batch, heads, n]; empty when nothing was sampled
  Var entropy;          // of the distribution sampled from, [batch, heads, n]; likewise
};
class Normaliser {
 public:
  virtual ~Normaliser() = default;
  virtual Weighted operator()(const Var& scores, const Mask& visible, const Query& query) const = 0;
  // Whether this is the softmax that the fused kernel computes.
  virtual bool fused() const { return false; }
  virtual Carries carries() const { return {}; }
};

// Parts and mechanisms register themselves by name, each from its own file; a constant of this type at namespace scope
// does it. The command line, Python and the registry-driven tests find what is registered.

// Of queries and keys. A score that multiplies them number by number takes equal ones alone.
enum class Widths { any, equal };

template <class Part>
struct PartEntry {
  std::string name;
  std::string summary;   // one line
  std::string equation;  // plain text
  std::string paper;
  std::function<std::unique_ptr<Part>(const Scope&, const AttentionOptions&)> make;
  Widths widths = Widths::any;
};

template <class Part>
class PartRegistry {
 public:
  // Defined once, in parts.cpp: inline, each library and program would end the list's life in its turn.
  static std::vector<PartEntry<Part>>& entries();
  explicit PartRegistry(PartEntry<Part> entry) { entries().push_back(std::move(entry)); }
};
template <>
std::vector<PartEntry<Score>>& PartRegistry<Score>::entries();
template <>
std::vector<PartEntry<Window>>& PartRegistry<Window>::entries();
template <>
std::vector<PartEntry<Normaliser>>& PartRegistry<Normaliser>::entries();
using RegisterScore = PartRegistry<Score>;
using RegisterWindow = PartRegistry<Window>;
using RegisterNormaliser = PartRegistry<Normaliser>;

}  // namespace heed
