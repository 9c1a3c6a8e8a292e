#include <algorithm>
#include <nlohmann/json.hpp>

#include "heed/serve/job.h"

namespace heed {
namespace {

using Json = nlohmann::ordered_json;

std::vector<std::string> lines_of(std::string_view text) {
  std::vector<std::string> lines;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    lines.emplace_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return lines;
}

// The translations of the lines as texts: the best of each line first, then the second of each, and so on. A line that
// has fewer lends its best.
std::vector<std::string> joined(std::span<const std::vector<Translation>> lines, Index count) {
  std::vector<std::string> texts(static_cast<std::size_t>(count));
  for (std::size_t rank = 0; rank < texts.size(); ++rank)
    for (std::size_t i = 0; i < lines.size(); ++i) {
      if (i > 0) texts[rank] += '\n';
      texts[rank] += lines[i][rank < lines[i].size() ? rank : 0].text;
    }
  return texts;
}

HttpResponse json_response(const Json& json) {
  return {200, json.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n"};
}

// Texts of one client, line by line.
class TranslatingJob : public ServiceJob {
 public:
  TranslatingJob(ServedModel& model, const std::vector<std::string>& texts, Index alternatives,
                 const JobOptions& options, std::shared_ptr<HttpReply> reply)
      : ServiceJob(fmt::format("translate {} {}", model.name(), alternatives), std::move(reply)),
        model_(model),
        alternatives_(alternatives),
        options_(options) {
    for (const std::string& text : texts) {
      const std::vector<std::string> lines = lines_of(text);
      lines_.insert(lines_.end(), lines.begin(), lines.end());
      counts_.push_back(lines.size());
    }
  }
  Index sentences() const override { return static_cast<Index>(lines_.size()); }
  JobCount run(const std::vector<ServiceJob*>& together) const override;

 protected:
  const ServedModel& model() const { return model_; }
  // `texts` has for every text its translations, the best first.
  virtual Json answer(const std::vector<std::vector<std::string>>& texts) const = 0;

 private:
  ServedModel& model_;
  Index alternatives_;
  JobOptions options_;
  std::vector<std::string> lines_;
  std::vector<std::size_t> counts_;  // of each text's lines
};

JobCount TranslatingJob::run(const std::vector<ServiceJob*>& together) const {
  JobCount count;
  std::vector<std::string> lines;
  for (const ServiceJob* each : together) {
    const auto& job = static_cast<const TranslatingJob&>(*each);
    for (const std::string& line : job.lines_) check_pieces(*model_.bundle(), line, options_);
    lines.insert(lines.end(), job.lines_.begin(), job.lines_.end());
  }
  BatchedSearch search;
  search.batch_sentences = options_.batch_sentences;
  search.options.best = alternatives_ + 1;
  search.options.beam = std::max<Index>(search.options.beam, alternatives_ + 1);
  search.options.observer = [&](const SearchStep&) { check_wanted(together); };
  Translator& translator = model_.translator();
  translator.search_with(search);
  const std::vector<std::vector<Translation>> results = translator.translate(lines);
  for (std::size_t i = 0; i < lines.size(); ++i)
    count.words += count_words(lines[i]) + count_words(results[i].front().text);
  count.sentences = static_cast<Index>(lines.size());
  std::span<const std::vector<Translation>> rest(results);
  for (const ServiceJob* each : together) {
    const auto& job = static_cast<const TranslatingJob&>(*each);
    std::vector<std::vector<std::string>> texts;
    for (const std::size_t lines_of_text : job.counts_) {
      texts.push_back(joined(rest.first(lines_of_text), alternatives_ + 1));
      rest = rest.subspan(lines_of_text);
    }
    job.reply().send(json_response(job.answer(texts)));
  }
  return count;
}

class LibreTranslateJob final : public TranslatingJob {
 public:
  LibreTranslateJob(ServedModel& model, const TranslateRequest& request, const JobOptions& options,
                    std::shared_ptr<HttpReply> reply)
      : TranslatingJob(model, request.texts, request.alternatives, options, std::move(reply)),
        list_(request.list),
        detected_(request.source == "auto" ? model.source_language() : ""),
        alternatives_(request.alternatives) {}

 protected:
  Json answer(const std::vector<std::vector<std::string>>& texts) const override {
    Json best = Json::array(), others = Json::array(), detected = Json::array();
    for (const std::vector<std::string>& text : texts) {
      best.push_back(text.front());
      others.push_back(Json(std::vector<std::string>(text.begin() + 1, text.end())));
      detected.push_back(Json{{"confidence", 100}, {"language", detected_}});  // the model's: there is no other
    }
    Json result{{"translatedText", list_ ? best : best.front()}};
    if (alternatives_ > 0) result["alternatives"] = list_ ? others : others.front();
    if (!detected_.empty()) result["detectedLanguage"] = list_ ? detected : detected.front();
    return result;
  }

 private:
  bool list_;
  std::string detected_;
  Index alternatives_;
};

class InferJob final : public TranslatingJob {
 public:
  InferJob(ServedModel& model, InferRequest request, const JobOptions& options, std::shared_ptr<HttpReply> reply)
      : TranslatingJob(model, request.texts, 0, options, std::move(reply)), request_(std::move(request)) {}

 protected:
  Json answer(const std::vector<std::vector<std::string>>& texts) const override {
    Json data = Json::array();
    for (const std::vector<std::string>& text : texts) data.push_back(text.front());
    Json result{{"model_name", model().name()}, {"model_version", "1"}};
    if (!request_.id.empty()) result["id"] = request_.id;
    result["outputs"] = Json::array(
        {Json{{"name", "translation"}, {"datatype", "BYTES"}, {"shape", request_.shape}, {"data", std::move(data)}}});
    return result;
  }

 private:
  InferRequest request_;
};

}  // namespace

std::shared_ptr<ServiceJob> translate_job(ServedModel& model, const TranslateRequest& request,
                                          const JobOptions& options, std::shared_ptr<HttpReply> reply) {
  return std::make_shared<LibreTranslateJob>(model, request, options, std::move(reply));
}

std::shared_ptr<ServiceJob> infer_job(ServedModel& model, InferRequest request, const JobOptions& options,
                                      std::shared_ptr<HttpReply> reply) {
  return std::make_shared<InferJob>(model, std::move(request), options, std::move(reply));
}

void check_wanted(const std::vector<ServiceJob*>& together) {
  if (std::none_of(together.begin(), together.end(), [](const ServiceJob* job) { return job->wanted(); }))
    refuse(499, "nobody waits for this any more");
}

void check_pieces(const TranslationBundle& bundle, const std::string& line, const JobOptions& options) {
  const Index pieces = static_cast<Index>(bundle.source->encode(line).size());
  if (pieces > options.longest_sentence)
    refuse(422, "a line has {} pieces, and the model reads at most {} at once; break it into sentences", pieces,
           options.longest_sentence);
}

Index count_words(std::string_view text) {
  Index count = 0;
  bool inside = false;
  for (const char c : text) {
    const bool white = c == ' ' || c == '\t' || c == '\n' || c == '\r';
    count += !white && !inside ? 1 : 0;
    inside = !white;
  }
  return count;
}

}  // namespace heed
