#include "heed/jobs/reranking.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <nlohmann/json.hpp>
#include <numeric>
#include <unordered_set>

#include "heed/base/error.h"
#include "heed/base/file.h"
#include "heed/base/json-inl.h"
#include "heed/data/blank.h"
#include "heed/data/sentences.h"
#include "heed/data/word_classes.h"
#include "heed/data/words.h"

namespace heed {
namespace {

using Words = std::vector<std::int32_t>;
using Json = nlohmann::ordered_json;

constexpr const char* kRerankingFile = "reranking.ngrams";
// Grams of three and more words of the training's documents that occur once are left out: they are most of all grams,
// and say little that shorter ones do not.
constexpr Index kLeastOften = 2;

// Without begin and end, which some texts have as words.
Words encoded(const Vocabulary& vocabulary, std::string_view text) {
  Words words = vocabulary.encode(text);
  std::erase_if(words, [](std::int32_t word) { return word == kBegin || word == kEnd; });
  return words;
}

template <class Take>
void for_each_sentence(std::string_view text, Take take) {
  std::size_t begin = 0;
  for (const std::size_t end : sentence_ends(text)) {
    take(text.substr(begin, end - begin));
    begin = end;
  }
}

Words classes_of(std::span<const std::int32_t> words, std::span<const std::int32_t> class_of) {
  Words classes;
  for (const std::int32_t word : words) classes.push_back(class_of[static_cast<std::size_t>(word)]);
  return classes;
}

std::string filled(const std::string& question, const std::string& answer) {
  std::string text = question;
  if (const std::size_t blank = text.find(kBlank); blank != std::string::npos)
    text.replace(blank, kBlank.size(), answer);
  return text;
}

}  // namespace

Reranking::Models Reranking::learn(const Vocabulary& vocabulary, std::span<const std::string> documents,
                                   const RerankingOptions& options) {
  std::vector<Words> sentences;
  std::unordered_set<std::size_t> seen;
  for (const std::string& document : documents)
    for_each_sentence(document, [&](std::string_view sentence) {
      Words words = encoded(vocabulary, sentence);
      const std::string_view bytes(reinterpret_cast<const char*>(words.data()), words.size() * sizeof(std::int32_t));
      if (seen.insert(std::hash<std::string_view>()(bytes)).second) sentences.push_back(std::move(words));
    });
  NgramModel global(sentences, {.order = options.order, .vocabulary = vocabulary.size(), .least = kLeastOften});
  Words class_of = word_classes(sentences, {.vocabulary = vocabulary.size(), .classes = options.classes});
  for (Words& sentence : sentences) sentence = classes_of(sentence, class_of);
  const Index classes = *std::max_element(class_of.begin(), class_of.end()) + 1;
  NgramModel of_classes(
      sentences, {.order = options.order, .vocabulary = std::max<Index>(classes, kEnd + 1), .least = kLeastOften});
  return {std::move(class_of), std::move(global), std::move(of_classes)};
}

Reranking::Reranking(std::shared_ptr<const Vocabulary> vocabulary, std::span<const std::string> documents,
                     const RerankingOptions& options)
    : vocabulary_(std::move(vocabulary)), models_(learn(*vocabulary_, documents, options)), best_(options.best) {}

std::vector<Reranking::Values> Reranking::features(const std::string& document, const std::string& question,
                                                   std::span<const std::string> answers) const {
  // A document's own words are known to its own model.
  std::shared_ptr<const Vocabulary> own = extended_by(vocabulary_, document);
  if (!own) own = vocabulary_;
  std::vector<Words> sentences;
  for_each_sentence(document, [&](std::string_view sentence) { sentences.push_back(encoded(*own, sentence)); });
  const NgramModel local(sentences, {.order = models_.global.order(), .vocabulary = own->size()});
  std::vector<Values> values;
  for (const std::string& answer : answers) {
    const std::string text = filled(question, answer);
    const Words words = encoded(*vocabulary_, text);
    values.push_back({models_.global.log_probability(words), local.log_probability(encoded(*own, text)),
                      models_.classes.log_probability(classes_of(words, models_.class_of))});
  }
  return values;
}

std::vector<double> Reranking::reranked(const std::string& document, const std::string& question,
                                        std::span<const std::string> answers,
                                        std::span<const double> probabilities) const {
  std::vector<std::size_t> order(answers.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return probabilities[a] > probabilities[b]; });
  order.resize(std::min(order.size(), static_cast<std::size_t>(best_)));
  // A probability of 0 has no logarithm; such an answer stays where it is.
  std::erase_if(order, [&](std::size_t i) { return probabilities[i] <= 0; });
  std::vector<std::string> texts;
  texts.reserve(order.size());
  for (const std::size_t i : order) texts.push_back(answers[i]);
  const std::vector<Values> values = features(document, question, texts);
  std::vector<double> scores;
  double all = 0;
  for (std::size_t k = 0; k < order.size(); ++k) {
    all += probabilities[order[k]];
    scores.push_back(
        std::inner_product(weights_.begin(), weights_.end(), values[k].begin(), std::log(probabilities[order[k]])));
  }
  std::vector<double> result(probabilities.begin(), probabilities.end());
  if (order.empty()) return result;
  const double most = *std::max_element(scores.begin(), scores.end());
  double sum = 0;
  for (double& score : scores) sum += score = std::exp(score - most);
  for (std::size_t k = 0; k < order.size(); ++k) result[order[k]] = all * scores[k] / sum;
  return result;
}

// One file, so that weights and models always belong together: a line of JSON, then the models, each after its size.
void Reranking::save(const ModelFolder& folder) const {
  Json json{{"best", best_}};
  for (std::size_t k = 0; k < kCount; ++k) json["weights"][kNames[k]] = weights_[k];
  std::string bytes = json.dump() + "\n";
  const auto put = [&bytes](std::string_view part) {
    const std::uint64_t size = part.size();
    bytes.append(reinterpret_cast<const char*>(&size), sizeof(size)).append(part);
  };
  put({reinterpret_cast<const char*>(models_.class_of.data()), models_.class_of.size() * sizeof(std::int32_t)});
  put(models_.global.bytes());
  put(models_.classes.bytes());
  folder.save_text(kRerankingFile, bytes);
}

std::shared_ptr<const Reranking> Reranking::load(const ModelFolder& folder,
                                                 std::shared_ptr<const Vocabulary> vocabulary) {
  const std::filesystem::path path = folder.path() / kRerankingFile;
  const std::string name = path.string();
  if (std::error_code ignored; !std::filesystem::exists(path, ignored)) return nullptr;
  const MappedFile file(path);
  std::string_view bytes(reinterpret_cast<const char*>(file.bytes().data()), file.bytes().size());
  const auto take = [&](std::size_t size) {
    require(size <= bytes.size(), "{}: it is damaged: it ends too early", name);
    const std::string_view part = bytes.substr(0, size);
    bytes.remove_prefix(size);
    return part;
  };
  const auto take_part = [&] {
    std::uint64_t size = 0;
    std::memcpy(&size, take(sizeof(size)).data(), sizeof(size));
    return take(size);
  };
  const auto json = parse_json<Json>(std::string(take(std::min(bytes.find('\n'), bytes.size()))), name);
  take(1);
  const std::string_view numbers = take_part();
  Words class_of(numbers.size() / sizeof(std::int32_t));
  std::memcpy(class_of.data(), numbers.data(), class_of.size() * sizeof(std::int32_t));
  const std::string_view global = take_part(), classes = take_part();
  Reranking reranking(std::move(vocabulary), {std::move(class_of), {global, name}, {classes, name}});
  const Models& found = reranking.models_;
  const Index words = reranking.vocabulary_->size();
  require(
      found.global.vocabulary() == words && static_cast<Index>(found.class_of.size()) == words &&
          std::ranges::all_of(found.class_of, [&](std::int32_t c) { return c >= 0 && c < found.classes.vocabulary(); }),
      "{}: it is damaged, or of another vocabulary than that of {} words", name, words);
  const auto number = [&name](const Json& from, const char* key) {
    const auto value = from.is_object() ? from.find(key) : from.end();
    require(value != from.end() && value->is_number() && std::isfinite(value->get<double>()),
            "{}: it is damaged: {} is missing or no number", name, key);
    return value->get<double>();
  };
  reranking.best_ = static_cast<Index>(std::clamp(number(json, "best"), 1.0, 1e6));
  require(json.contains("weights"), "{}: it is damaged: the weights are missing", name);
  for (std::size_t k = 0; k < kCount; ++k) reranking.weights_[k] = number(json["weights"], kNames[k]);
  return std::make_shared<const Reranking>(std::move(reranking));
}

}  // namespace heed
