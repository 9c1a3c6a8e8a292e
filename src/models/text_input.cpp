#include "heed/models/text_input.h"

#include <algorithm>

namespace heed {

void TextInputConfig::visit(Fields& field) {
  field("embedding", embedding, "width of a word's vector");
  field("frozen", frozen, "vectors that --vectors gave stay as they are; only words without one are learned");
  field("embedding-dropout", embedding_dropout, "share of the words' vectors dropped in training");
}

TextInput::TextInput(const char* model, const Scope& scope, const Config& sizes, const TextInputConfig& config)
    : dropout_(config.embedding_dropout), inputs_(sizes.inputs.size()) {
  check_positive(model, {{"embedding", config.embedding}});
  check_dropout(model, config.embedding_dropout);
  require(sizes.inputs.front() > 0, "[{}] a vocabulary of {} words", model, sizes.inputs.front());
  for (const Index size : sizes.inputs)
    require(size == sizes.inputs.front(),
            "[{}] vocabularies of {} and {} words; its texts share one (joint-vocabulary)", model, sizes.inputs.front(),
            size);
  table_ = Embedding(scope, sizes.inputs.front(), config.embedding, init::normal(0.1),
                     config.frozen ? Embedding::Rows::may_be_frozen : Embedding::Rows::learned);
}

// Lengths without the end symbol; 1 where there is nothing else.
Ids lengths_without_end(const Source& text) {
  Ids lengths = text.lengths.copy();
  for (std::int32_t& length : lengths.values()) length = std::max(length - 1, 1);
  return lengths;
}

std::vector<WordTable> TextInput::tables() const { return {inputs_, WordTable{table_.table(), table_.frozen()}}; }

}  // namespace heed
