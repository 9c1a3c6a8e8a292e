#pragma once

#include <array>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "heed/data/ngram_model.h"
#include "heed/data/vocabulary.h"
#include "heed/store/model_folder.h"

namespace heed {

// Cui, Chen, Wei, Wang, Liu, Hu 2017, Attention-over-attention neural networks, section 5: the N best answers of a
// reader are put into the blank of their question, and
//   s(answer) = log p(answer) + Σ_k w_k log p_k(question with the answer in it)
// chooses among them anew. The p_k are n-gram models (ngram_model.h) of the training's documents, of the document that
// was read, and of the classes of words (word_classes.h) in the training's documents. The reader's own weight is 1.
struct RerankingOptions {
  Index order = 8;       // of all three models
  Index classes = 1000;  // of words, at most
  Index best = 20;       // N
};

class Reranking {
 public:
  static constexpr std::size_t kCount = 3;
  static constexpr std::array<const char*, kCount> kNames{"global", "local", "classes"};
  using Values = std::array<double, kCount>;

  // Every different sentence of the documents counts once: questions made of one text share most of their documents.
  Reranking(std::shared_ptr<const Vocabulary> vocabulary, std::span<const std::string> documents,
            const RerankingOptions& options);

  // log p_k for each answer. The question has its blank as kBlank.
  std::vector<Values> features(const std::string& document, const std::string& question,
                               std::span<const std::string> answers) const;
  // The probabilities of all answers with those of the N best (all, if there are fewer) shared out among these anew, in
  // the proportion of e^s. So they still sum to what they did, and the best is one of the N.
  std::vector<double> reranked(const std::string& document, const std::string& question,
                               std::span<const std::string> answers, std::span<const double> probabilities) const;

  void set_weights(const Values& weights) { weights_ = weights; }
  const Values& weights() const { return weights_; }
  Index best() const { return best_; }

  // reranking.ngrams of a model folder.
  void save(const ModelFolder& folder) const;
  // Nothing where there is no such file; an Error if it is damaged.
  static std::shared_ptr<const Reranking> load(const ModelFolder& folder, std::shared_ptr<const Vocabulary> vocabulary);

 private:
  using Words = std::vector<std::int32_t>;
  struct Models {
    Words class_of;  // of each word
    NgramModel global, classes;
  };
  Reranking(std::shared_ptr<const Vocabulary> vocabulary, Models models)
      : vocabulary_(std::move(vocabulary)), models_(std::move(models)) {}
  static Models learn(const Vocabulary& vocabulary, std::span<const std::string> documents,
                      const RerankingOptions& options);

  std::shared_ptr<const Vocabulary> vocabulary_;
  Models models_;
  Index best_ = 0;
  Values weights_ = {};
};

}  // namespace heed
