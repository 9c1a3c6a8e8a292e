#include "heed/autograd/ops/elementwise.h"
#include "heed/autograd/ops/matrix.h"
#include "heed/autograd/ops/shape.h"
#include "heed/models/text_input.h"

namespace heed {
namespace {

// Joulin et al. 2017, Bag of tricks for efficient text classification: the mean of the vectors of words and n-grams,
// the baseline that attention has to beat. An n-gram's vector is found by a hash of its words.
//   z = 1/N Σ_k Σ_j E_k(x_j .. x_{j+k-1}),  k = 1..n-grams,        p = softmax(W z + b)
// The alignment of a word is its share of the mean; an n-gram counts for its words in equal parts. The end symbol takes
// no part unless there is nothing else.
struct BagConfig final : Config {
  Index embedding = 10;
  Index ngrams = 2;
  Index buckets = Index{1} << 20;

  void visit(Fields& field) override {
    field("embedding", embedding, "width of the vector of a word or n-gram");
    field("ngrams", ngrams, "longest n-grams that have vectors (1: words alone)");
    field("buckets", buckets, "vectors that all n-grams of several words share");
  }
};

const BagConfig& checked(const BagConfig& config) {
  check_common("bag", config, 0);
  check_positive("bag", {{"embedding", config.embedding}, {"ngrams", config.ngrams}, {"buckets", config.buckets}});
  require(config.inputs.size() == 1, "[bag] reads one text, not {}", config.inputs.size());
  require(config.inputs[0] + config.buckets < (Index{1} << 31), "[bag] {} buckets are too many", config.buckets);
  return config;
}

class Bag final : public Chooser {
 public:
  Bag(const Scope& scope, const BagConfig& config)
      : config_(checked(config)),
        vectors_(
            scope / "vectors", config.inputs[0] + (config.ngrams > 1 ? config.buckets : 0), config.embedding,
            init::uniform(-1.0 / static_cast<double>(config.embedding), 1.0 / static_cast<double>(config.embedding))),
        labels_(scope / "labels", config.embedding, config.outputs, {.initialise = init::zeros()}) {}

  Chosen forward(const std::vector<Source>& inputs, const ForwardOptions& options) const override {
    const Source& text = inputs.front();
    const Index batch = text.batch();
    const Ids words = real_words(text), lengths = text.lengths.contiguous();
    std::vector<Index> counts;  // of each text's words
    Index longest = 0;
    for (Index b = 0; b < batch; ++b) {
      counts.push_back(std::max<Index>(lengths.data()[b] - 1, 1));
      longest = std::max(longest, counts.back());
    }
    const Index orders = std::min(config_.ngrams, longest);
    Ids ids(Shape{batch, orders, longest}, 0);
    Tensor weights(Shape{batch, orders, longest}, Real{0});
    for (Index b = 0; b < batch; ++b) {
      const Index count = counts[static_cast<std::size_t>(b)];
      Index all = 0;
      for (Index k = 1; k <= orders; ++k) all += std::max<Index>(count - k + 1, 0);
      for (Index k = 1; k <= orders; ++k) {
        const Index at = (b * orders + k - 1) * longest;
        for (Index j = 0; j + k <= count; ++j) {
          ids.data()[at + j] = row_of(words.data() + b * text.longest() + j, k);
          weights.data()[at + j] = Real{1} / static_cast<Real>(all);
        }
      }
    }
    const Var shares = options.gates ? gated(weights, options.gates) : Var(weights);
    const Var read = matmul(reshape(shares, Shape{batch, 1, orders * longest}),
                            vectors_(ids.reshape(Shape{batch, orders * longest})));
    Chosen chosen{labels_(reshape(read, Shape{batch, config_.embedding})), {}, {}};
    if (!options.alignment && !options.trace) return chosen;
    const Tensor alignment = shares_of_words(weights, text.longest());
    if (options.alignment) chosen.alignment = Var(alignment);
    if (options.trace)
      options.trace->push_back({"label.document", alignment.reshape(Shape{batch, 1, 1, text.longest()})});
    return chosen;
  }
  std::vector<AttentionShape> attentions() const override { return {{.name = "label.document"}}; }

 private:
  // A word's own row, or the bucket of an n-gram.
  std::int32_t row_of(const std::int32_t* words, Index count) const {
    if (count == 1) return words[0];
    std::uint64_t hash = 0;
    for (Index i = 0; i < count; ++i) {
      hash = (hash ^ static_cast<std::uint32_t>(words[i])) * 0x9E3779B97F4A7C15ULL;
      hash ^= hash >> 29U;
    }
    return static_cast<std::int32_t>(config_.inputs[0] +
                                     static_cast<Index>(hash % static_cast<std::uint64_t>(config_.buckets)));
  }
  // Each n-gram's weight times the mean of its words' gates [batch, 1, m].
  static Var gated(const Tensor& weights, const Var& gates) {
    const Index longest = weights.size(2);
    std::vector<Var> means;  // [batch, 1, longest] of each order
    Var sum;
    for (Index k = 1; k <= weights.size(1); ++k) {
      const Var own = pad(slice(gates, 2, k - 1, longest), 2, 0, k - 1);
      sum = k == 1 ? own : sum + own;
      means.push_back(scale(sum, Real{1} / static_cast<Real>(k)));
    }
    return Var(weights) * concat(means, 1);
  }
  static Tensor shares_of_words(const Tensor& weights, Index width) {
    const Index batch = weights.size(0), orders = weights.size(1), longest = weights.size(2);
    Tensor shares(Shape{batch, 1, width}, Real{0});
    for (Index b = 0; b < batch; ++b)
      for (Index k = 1; k <= orders; ++k)
        for (Index j = 0; j + k <= longest; ++j)
          for (Index i = 0; i < k; ++i)
            shares.data()[b * width + j + i] +=
                weights.data()[(b * orders + k - 1) * longest + j] / static_cast<Real>(k);
    return shares;
  }

  BagConfig config_;
  Embedding vectors_;
  Linear labels_;
};

std::unique_ptr<Config> bag_config(const std::string&) { return std::make_unique<BagConfig>(); }

const RegisterSystem bag{{.name = "bag",
                          .summary = "the mean of the vectors of words and n-grams: the baseline",
                          .paper = "Joulin et al. 2017",
                          .job = "classification",
                          .presets = {"paper", "small"},
                          .config = bag_config,
                          .make = make_model<Bag, BagConfig>,
                          .training = {}}};

}  // namespace
}  // namespace heed
