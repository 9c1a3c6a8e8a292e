#include "heed/data/eraser.h"

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "heed/base/error.h"
#include "heed/base/json-inl.h"
#include "heed/base/utf8.h"
#include "heed/data/text_file.h"

namespace heed {
namespace {

using OrderedJson = nlohmann::ordered_json;

// The objects of a file's lines, with messages that lead with their place.
class ObjectLines {
 public:
  explicit ObjectLines(const std::string& file) : lines_(file) {}

  bool next() {
    std::string line;
    while (lines_.next(line)) {
      if (words_of_line(line).empty()) continue;
      require(valid_utf8(line), "{}:{}: it is not UTF-8", lines_.name(), lines_.number());
      object_ = parse_json<OrderedJson>(line, fmt::format("{}:{}", lines_.name(), lines_.number()));
      require(object_.is_object(), "{}:{}: it is not a JSON object", lines_.name(), lines_.number());
      return true;
    }
    return false;
  }
  const OrderedJson& object() const { return object_; }

  // A field that may be missing or null; numbers are names, too.
  std::string text(const OrderedJson& object, const char* name) const {
    const auto field = object.find(name);
    if (field == object.end() || field->is_null()) return "";
    if (field->is_number_integer()) return field->dump();
    require(field->is_string(), "{}:{}: the field {} is no text", lines_.name(), lines_.number(), name);
    return field->get<std::string>();
  }
  std::string needed_text(const OrderedJson& object, const char* name) const {
    std::string found = text(object, name);
    require(!found.empty(), "{}:{}: the field {} is missing", lines_.name(), lines_.number(), name);
    return found;
  }
  Index place(const OrderedJson& object, const char* name) const {
    const auto field = object.find(name);
    if (field == object.end() || field->is_null()) return -1;
    require(field->is_number_integer() && *field >= -1, "{}:{}: the field {} is no place", lines_.name(),
            lines_.number(), name);
    return field->get<Index>();
  }
  // Of a field that may be missing or null.
  const OrderedJson& list(const OrderedJson& object, const char* name) const {
    static const OrderedJson none = OrderedJson::array();
    const auto field = object.find(name);
    return field == object.end() || field->is_null() ? none : as_list(*field, name);
  }
  const OrderedJson& as_list(const OrderedJson& value, const char* name) const {
    require(value.is_array(), "{}:{}: {} is no list", lines_.name(), lines_.number(), name);
    return value;
  }
  void require_range(Index begin, Index end, const char* what) const {
    require((begin == -1) == (end == -1) && begin <= end, "{}:{}: the {}s {} to {} are no range", lines_.name(),
            lines_.number(), what, begin, end);
  }
  void require_object(const OrderedJson& value, const char* what) const {
    require(value.is_object(), "{}:{}: {} is no object", lines_.name(), lines_.number(), what);
  }

 private:
  LineReader lines_;
  OrderedJson object_;
};

EraserEvidence evidence_of(const ObjectLines& lines, const OrderedJson& object, const std::string& annotation_id) {
  lines.require_object(object, "an evidence");
  EraserEvidence evidence{.text = lines.text(object, "text"),
                          .docid = lines.text(object, "docid"),
                          .start_token = lines.place(object, "start_token"),
                          .end_token = lines.place(object, "end_token"),
                          .start_sentence = lines.place(object, "start_sentence"),
                          .end_sentence = lines.place(object, "end_sentence")};
  if (evidence.docid.empty()) evidence.docid = annotation_id;
  lines.require_range(evidence.start_token, evidence.end_token, "token");
  lines.require_range(evidence.start_sentence, evidence.end_sentence, "sentence");
  return evidence;
}

OrderedJson as_json(const EraserEvidence& evidence) {
  return {{"text", evidence.text},
          {"docid", evidence.docid},
          {"start_token", evidence.start_token},
          {"end_token", evidence.end_token},
          {"start_sentence", evidence.start_sentence},
          {"end_sentence", evidence.end_sentence}};
}

OrderedJson as_json(const ClassScores& scores) {
  OrderedJson object = OrderedJson::object();
  for (const auto& [label, score] : scores) object[label] = score;
  return object;
}

OrderedJson as_json(const EraserRationale& rationale, const std::string& annotation_id) {
  std::vector<TokenSpan> spans = rationale.hard;
  std::sort(spans.begin(), spans.end(), [](const TokenSpan& a, const TokenSpan& b) { return a.begin < b.begin; });
  OrderedJson hard = OrderedJson::array();
  for (std::size_t i = 0; i < spans.size(); ++i) {
    require(spans[i].begin < spans[i].end && (i == 0 || spans[i - 1].end <= spans[i].begin),
            "[eraser] {}: the span {} to {} is empty or overlaps the one before it", annotation_id, spans[i].begin,
            spans[i].end);
    hard.push_back({{"start_token", spans[i].begin}, {"end_token", spans[i].end}});
  }
  OrderedJson object{{"docid", rationale.docid}, {"hard_rationale_predictions", hard}};
  if (!rationale.soft.empty()) object["soft_rationale_predictions"] = rationale.soft;
  if (!rationale.soft_sentences.empty()) object["soft_sentence_predictions"] = rationale.soft_sentences;
  return object;
}

OrderedJson as_json(const EraserPrediction& prediction) {
  OrderedJson object{{"annotation_id", prediction.annotation_id}, {"rationales", OrderedJson::array()}};
  for (const EraserRationale& rationale : prediction.rationales)
    object["rationales"].push_back(as_json(rationale, prediction.annotation_id));
  object["classification"] = prediction.classification;
  object["classification_scores"] = as_json(prediction.scores);
  const auto add = [](OrderedJson& to, const char* name, const ClassScores& scores) {
    if (!scores.empty()) to[name] = as_json(scores);
  };
  add(object, "comprehensiveness_classification_scores", prediction.without_rationale);
  add(object, "sufficiency_classification_scores", prediction.only_rationale);
  if (prediction.tokens_to_flip) object["tokens_to_flip"] = *prediction.tokens_to_flip;
  for (const EraserPrediction::Threshold& threshold : prediction.thresholds) {
    OrderedJson at{{"threshold", threshold.share}};
    add(at, "comprehensiveness_classification_scores", threshold.without_rationale);
    add(at, "sufficiency_classification_scores", threshold.only_rationale);
    object["thresholded_scores"].push_back(at);
  }
  return object;
}

std::vector<std::string> field_names(const OrderedJson& object) {
  std::vector<std::string> names;
  for (const auto& [name, value] : object.items()) names.push_back(name);
  return names;
}

}  // namespace

std::string eraser_docid(const EraserAnnotation& annotation, std::size_t text) {
  if (text < annotation.docids.size()) return annotation.docids[text];
  for (const std::vector<EraserEvidence>& group : annotation.evidences)
    if (!group.empty()) return group.front().docid;
  return annotation.annotation_id;
}

std::vector<EraserAnnotation> read_eraser_annotations(const std::string& file) {
  std::vector<EraserAnnotation> annotations;
  for (ObjectLines lines(file); lines.next();) {
    const OrderedJson& object = lines.object();
    EraserAnnotation annotation{.annotation_id = lines.needed_text(object, "annotation_id"),
                                .query = lines.text(object, "query"),
                                .classification = lines.needed_text(object, "classification"),
                                .query_type = lines.text(object, "query_type")};
    for (const OrderedJson& group : lines.list(object, "evidences")) {
      std::vector<EraserEvidence>& evidences = annotation.evidences.emplace_back();
      for (const OrderedJson& evidence : lines.as_list(group, "a group of evidences"))
        evidences.push_back(evidence_of(lines, evidence, annotation.annotation_id));
    }
    for (const OrderedJson& docid : lines.list(object, "docids"))
      annotation.docids.push_back(docid.is_string() ? docid.get<std::string>() : docid.dump());
    if (object.contains("document")) annotation.document = lines.text(object, "document");
    annotations.push_back(std::move(annotation));
  }
  return annotations;
}

std::string eraser_lines(std::span<const EraserAnnotation> annotations) {
  std::string lines;
  for (const EraserAnnotation& annotation : annotations) {
    OrderedJson object{
        {"annotation_id", annotation.annotation_id}, {"query", annotation.query}, {"evidences", OrderedJson::array()}};
    for (const std::vector<EraserEvidence>& group : annotation.evidences) {
      OrderedJson list = OrderedJson::array();
      for (const EraserEvidence& evidence : group) list.push_back(as_json(evidence));
      object["evidences"].push_back(list);
    }
    object["classification"] = annotation.classification;
    if (!annotation.query_type.empty()) object["query_type"] = annotation.query_type;
    if (!annotation.docids.empty()) object["docids"] = annotation.docids;
    if (annotation.document) object["document"] = *annotation.document;
    lines += object.dump() + "\n";
  }
  return lines;
}

EraserDocument eraser_document(std::string_view text) {
  EraserDocument document;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::vector<std::string_view> tokens = words_of_line(text.substr(0, end));
    if (!tokens.empty()) document.emplace_back(tokens.begin(), tokens.end());
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return document;
}

EraserDocuments::EraserDocuments(std::string folder) : folder_(std::move(folder)) {
  const std::filesystem::path file = std::filesystem::path(folder_) / "docs.jsonl";
  in_one_file_ = std::filesystem::exists(file);
  if (!in_one_file_) return;
  for (ObjectLines lines(file.string()); lines.next();)
    known_.emplace(lines.needed_text(lines.object(), "docid"), eraser_document(lines.text(lines.object(), "document")));
}

const EraserDocument& EraserDocuments::find(const std::string& docid) {
  if (const auto known = known_.find(docid); known != known_.end()) return known->second;
  require(!in_one_file_, "{}/docs.jsonl: there is no document {}", folder_, docid);
  require(!docid.empty() && docid != "." && docid != ".." && docid.find('/') == std::string::npos,
          "{}/docs: \"{}\" is no name of a document", folder_, docid);
  const std::string file = (std::filesystem::path(folder_) / "docs" / docid).string();
  return known_.emplace(docid, eraser_document(read_unpacked(file))).first->second;
}

std::string eraser_lines(std::span<const EraserPrediction> predictions) {
  std::string lines;
  std::vector<std::string> fields;
  for (const EraserPrediction& prediction : predictions) {
    const OrderedJson object = as_json(prediction);
    if (lines.empty()) fields = field_names(object);
    require(fields == field_names(object), "[eraser] {} has the fields {}, but {} has {}; all need the same",
            prediction.annotation_id, fmt::join(field_names(object), ", "), predictions[0].annotation_id,
            fmt::join(fields, ", "));
    lines += object.dump() + "\n";
  }
  return lines;
}

}  // namespace heed
