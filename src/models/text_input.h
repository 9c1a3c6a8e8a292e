#pragma once

#include "heed/models/decoder_parts.h"

namespace heed {

// How a chooser sees the words of its texts.
struct TextInputConfig {
  Index embedding = 100;
  bool frozen = false;  // vectors that were given stay as they are
  double embedding_dropout = 0;

  void visit(Fields& field);
};

// Lengths without the end symbol; 1 where there is nothing else.
Ids lengths_without_end(const Source& text);

// Words as vectors, one table for all texts that the model reads.
class TextInput {
 public:
  TextInput() = default;
  // Texts of several vocabularies are an Error that leads with the model's name.
  TextInput(const char* model, const Scope& scope, const Config& sizes, const TextInputConfig& config);
  // [batch, longest, embedding].
  Var operator()(const Source& text, Random* random) const { return (*this)(real_words(text), random); }
  Var operator()(const Ids& words, Random* random) const { return dropped(table_(words), dropout_, random); }
  Index width() const { return table_.table().size(1); }
  std::vector<WordTable> tables() const;

 private:
  Embedding table_;
  double dropout_ = 0;
  std::size_t inputs_ = 1;
};

}  // namespace heed
