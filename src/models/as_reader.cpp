#include "heed/autograd/ops/matrix.h"
#include "heed/autograd/ops/shape.h"
#include "heed/autograd/ops/softmax.h"
#include "heed/models/reader.h"

namespace heed {
namespace {

// Kadlec, Schmid, Bajgar, Kleindienst 2016, Text understanding with the attention sum reader network.
//   h_i = BiGRU_d(E d)_i,  g = [→BiGRU_q; ←BiGRU_q], the last state of each direction
//   s = softmax_i(h_i · g)
// What becomes of s stands in models/reader.h.
class AsReader final : public Reader {
 public:
  AsReader(const Scope& scope, const ReaderConfig& config) : Reader("as-reader", scope, config, true) {}
  std::vector<AttentionShape> attentions() const override { return {{.name = "answer.document"}}; }

 private:
  Var look(const Encoded& document, const Encoded& question, std::vector<AttentionOfBatch>*) const override {
    const Var& words = document.states.outputs;
    const Var asked = joined(question.states.last.forward, question.states.last.backward);  // [batch, 2·hidden]
    const Index batch = words.size(0), d = words.size(1);
    const Var scores = matmul(words, reshape(asked, Shape{batch, asked.size(1), 1}));
    return softmax(reshape(scores, Shape{batch, d}), padding_mask(document.lengths, d));
  }
};

const RegisterSystem as_reader{{.name = "as-reader",
                                .summary = "one look at the document for the whole question; equal words are summed",
                                .paper = "Kadlec et al. 2016",
                                .job = "reading",
                                .presets = {"paper", "small"},
                                .config = reader_config,
                                .make = make_model<AsReader, ReaderConfig>,
                                .training = {}}};

}  // namespace
}  // namespace heed
