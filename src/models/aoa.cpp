#include "heed/attention/losses.h"
#include "heed/models/reader.h"

namespace heed {
namespace {

// Cui, Chen, Wei, Wang, Liu, Hu 2017, Attention-over-attention neural networks for reading comprehension.
//   h = BiGRU(E d),  u = BiGRU(E q), the same encoder;  M_ij = h_i · u_j
//   α_j = softmax_i(M_ij): where each word of the question looks
//   β_i = softmax_j(M_ij),  β̄ = mean_i β_i: how much each word of the question matters
//   s = Σ_j β̄_j α_j
// What becomes of s stands in models/reader.h.
class Aoa final : public Reader {
 public:
  Aoa(const Scope& scope, const ReaderConfig& config) : Reader("aoa", scope, config, false) {}
  std::vector<AttentionShape> attentions() const override {
    return {{.name = "answer.document"},
            {.name = "question.document", .rows = 1, .columns = 0},
            {.name = "document.question", .rows = 0, .columns = 1}};
  }

 private:
  Var look(const Encoded& document, const Encoded& question, std::vector<AttentionOfBatch>* trace) const override {
    const OverAttention seen =
        attention_over_attention(document.states.outputs, question.states.outputs, document.lengths, question.lengths);
    const auto show = [trace](const char* name, const Var& weights) {
      const Index batch = weights.size(0), n = weights.size(1), m = weights.size(2);
      trace->push_back({name, weights.value().contiguous().reshape(Shape{batch, 1, n, m})});
    };
    if (trace) {
      show("question.document", seen.onto_words);
      show("document.question", seen.onto_asked);
    }
    return seen.weights;
  }
};

const RegisterSystem aoa{{.name = "aoa",
                          .summary = "each word of the question looks at the document, and the document at them",
                          .paper = "Cui et al. 2017",
                          .job = "reading",
                          .presets = {"paper", "small"},
                          .config = reader_config,
                          .make = make_model<Aoa, ReaderConfig>,
                          .training = {}}};

}  // namespace
}  // namespace heed
