#pragma once

#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "heed/base/real.h"

// The JSON lines of the ERASER benchmark (DeYoung et al. 2020): which words of a document decide a label. A document is
// a list of sentences, a sentence a list of tokens; tokens are what stands between blanks, counted over the whole
// document. Ends are one past the last; -1 is "not said".

namespace heed {

struct EraserEvidence {
  std::string text = {}, docid = {};
  Index start_token = -1, end_token = -1, start_sentence = -1, end_sentence = -1;
  bool operator==(const EraserEvidence&) const = default;
};

// What is right about one sample. Each group of evidences is enough for the label.
struct EraserAnnotation {
  std::string annotation_id = {}, query = {};
  std::vector<std::vector<EraserEvidence>> evidences = {};
  std::string classification = {};
  std::string query_type = {};               // empty: not said
  std::vector<std::string> docids = {};      // empty: those of the evidences
  std::optional<std::string> document = {};  // inline, with a sentence per line
  bool operator==(const EraserAnnotation&) const = default;
};

// The document that is the annotation's first, second ... text.
std::string eraser_docid(const EraserAnnotation& annotation, std::size_t text = 0);

// Lines of a file, plain or packed. A line that is no annotation is an Error with the file and the line.
std::vector<EraserAnnotation> read_eraser_annotations(const std::string& file);
// Lines as the benchmark reads them; a document inline is written as the field `document`, which it does not know.
std::string eraser_lines(std::span<const EraserAnnotation> annotations);

using EraserDocument = std::vector<std::vector<std::string>>;  // sentences of tokens
EraserDocument eraser_document(std::string_view text);         // a sentence per line; empty lines are none

// The documents of a data set's folder: of its file docs.jsonl, or of the files in its folder docs.
class EraserDocuments {
 public:
  explicit EraserDocuments(std::string folder);
  // A document that is not there is an Error.
  const EraserDocument& find(const std::string& docid);

 private:
  std::string folder_;
  bool in_one_file_ = false;
  std::unordered_map<std::string, EraserDocument> known_;
};

using ClassScores = std::vector<std::pair<std::string, double>>;  // labels with their probabilities

struct TokenSpan {
  Index begin = 0, end = 0;
  bool operator==(const TokenSpan&) const = default;
};

// What a model says about one document of a sample.
struct EraserRationale {
  std::string docid = {};
  std::vector<TokenSpan> hard = {};         // that do not overlap
  std::vector<double> soft = {};            // a weight per token; empty: none
  std::vector<double> soft_sentences = {};  // a weight per sentence; empty: none
};

struct EraserPrediction {
  std::string annotation_id = {};
  std::vector<EraserRationale> rationales = {};
  std::string classification = {};
  ClassScores scores = {};
  ClassScores without_rationale = {}, only_rationale = {};  // comprehensiveness and sufficiency; empty: not measured
  struct Threshold {
    double share = 0;  // of the tokens
    ClassScores without_rationale = {}, only_rationale = {};
  };
  std::vector<Threshold> thresholds = {};  // empty: not measured
  std::optional<Index> tokens_to_flip = {};
};

// Lines as the benchmark reads them. What is not measured must be so in all; spans that overlap are an Error.
std::string eraser_lines(std::span<const EraserPrediction> predictions);

}  // namespace heed
