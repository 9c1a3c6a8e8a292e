#include <algorithm>
#include <cmath>
#include <utility>

#include "heed/base/json-inl.h"
#include "heed/data/transcripts.h"
#include "heed/serve/adapter.h"
#include "heed/serve/body-inl.h"
#include "heed/serve/multipart.h"
#include "heed/serve/run_work.h"

// What clients of recognisers send and expect: a form (multipart/form-data) with a `file`, and
//   POST /v1/audio/transcriptions   OpenAI's: model, response_format, timestamp_granularities[]
//   POST /inference                 whisper.cpp's: response_format; words stand inside of segments
// response_format is json {"text"}, text, srt, vtt, or verbose_json with the times. Other fields of theirs (language,
// prompt, temperature) are taken and change nothing: a model has one language and searches as it was told to.

namespace heed {
namespace {

using OrderedJson = nlohmann::ordered_json;

enum class Dialect { openai, whisper };

const std::vector<std::string> kResponseFormats{"json", "text", "srt", "vtt", "verbose_json"};

struct TranscriptionRequest {
  std::string model, format = "json";
  bool words = false, segments = true;
  SentSample sample;
};

// timestamp_granularities[]: segments, unless it asks for words alone.
void read_granularity(const std::string& value, bool& chosen, TranscriptionRequest& request) {
  if (value != "word" && value != "segment")
    refuse(400, "timestamp_granularities: {} is neither word nor segment", shown(value));
  if (!std::exchange(chosen, true)) request.segments = false;
  (value == "word" ? request.words : request.segments) = true;
}

TranscriptionRequest transcription_request(const HttpRequest& request, Dialect dialect) {
  if (!is_multipart_form(request)) refuse(415, "a form (multipart/form-data) with a file is expected");
  TranscriptionRequest result;
  bool chosen = false;
  for (const FormPart& part : multipart_form(request)) {
    const std::string value(part.name == "file" ? std::string_view() : part.body);
    if (part.name == "file") {
      if (!result.sample.empty()) refuse(400, "file: there is more than one");
      result.sample.push_back({std::string(part.body), true});
    } else if (part.name == "model" && dialect == Dialect::openai) {
      result.model = value;
    } else if (part.name == "response_format") {
      if (std::ranges::find(kResponseFormats, value) == kResponseFormats.end())
        refuse(400, "response_format: {} is none of {}", shown(value), fmt::join(kResponseFormats, ", "));
      result.format = value;
    } else if (part.name == "timestamp_granularities[]" || part.name == "timestamp_granularities") {
      read_granularity(value, chosen, result);
    } else if (part.name == "stream" && value == "true") {
      refuse(400, "stream: the answer comes when all is written");
    }
  }
  if (result.sample.empty()) refuse(400, "file is missing: the sound that is to be written down");
  if (result.sample.front().bytes.empty()) refuse(400, "file: it is empty");
  return result;
}

double milliseconds(double seconds) { return std::round(seconds * 1000) / 1000; }

OrderedJson word_json(const TimedWord& word, Dialect dialect) {
  OrderedJson json{{"word", word.word}, {"start", milliseconds(word.begin)}, {"end", milliseconds(word.end)}};
  if (dialect == Dialect::whisper) json["probability"] = word.confidence;
  return json;
}

// Lines of subtitles, and in whisper.cpp's form the words of each. What a model of ours has no number for is what a
// client can do without: no seek, no tokens, no compression, no silence.
OrderedJson segments_json(const Transcript& transcript, Dialect dialect) {
  OrderedJson segments = OrderedJson::array();
  std::size_t at = 0;
  for (const Cue& cue : cues_of(transcript.words)) {
    OrderedJson words = OrderedJson::array();
    double log_probability = 0, count = 0;
    for (; at < transcript.words.size() && transcript.words[at].begin < cue.end; ++at, ++count) {
      words.push_back(word_json(transcript.words[at], dialect));
      log_probability += std::log(std::max(transcript.words[at].confidence, 1e-30));
    }
    OrderedJson segment{{"id", segments.size()},
                        {"seek", 0},
                        {"start", milliseconds(cue.begin)},
                        {"end", milliseconds(cue.end)},
                        {"text", cue.text},
                        {"tokens", OrderedJson::array()},
                        {"temperature", 0},
                        {"avg_logprob", count > 0 ? log_probability / count : 0},
                        {"compression_ratio", 1},
                        {"no_speech_prob", 0}};
    if (dialect == Dialect::whisper) segment["words"] = std::move(words);
    segments.push_back(std::move(segment));
  }
  return segments;
}

std::string language_of(const Bundle& bundle) { return bundle.languages.empty() ? "" : bundle.languages.back(); }

OrderedJson verbose_json(const Result& result, const TranscriptionRequest& request, const Bundle& bundle,
                         Dialect dialect) {
  const Transcript transcript = result.times ? result.times->transcript : Transcript{};
  OrderedJson json{{"task", "transcribe"},
                   {"language", language_of(bundle)},
                   {"duration", milliseconds(transcript.seconds)},
                   {"text", result.text}};
  if (request.segments || dialect == Dialect::whisper) json["segments"] = segments_json(transcript, dialect);
  if (request.words && dialect == Dialect::openai) {
    json["words"] = OrderedJson::array();
    for (const TimedWord& word : transcript.words) json["words"].push_back(word_json(word, dialect));
  }
  if (result.times && !result.times->doubts.empty()) json["doubts"] = result.times->doubts;
  if (dialect == Dialect::openai) json["usage"] = {{"type", "duration"}, {"seconds", std::ceil(transcript.seconds)}};
  return json;
}

HttpResponse transcription(const Result& result, const TranscriptionRequest& request, const Bundle& bundle,
                           Dialect dialect) {
  if (request.format == "json") return json_answer(OrderedJson{{"text", result.text}});
  if (request.format == "verbose_json") return json_answer(verbose_json(result, request, bundle, dialect));
  if (request.format == "text") return {200, result.text + "\n", "text/plain; charset=utf-8"};
  const char* const type = request.format == "srt" ? "application/x-subrip; charset=utf-8" : "text/vtt; charset=utf-8";
  return {200, written_transcript(result.times ? result.times->transcript : Transcript{}, request.format), type};
}

class TranscriptionWork final : public RunWork {
 public:
  TranscriptionWork(const Model& model, const TranscriptionRequest& request, Dialect dialect,
                    const WorkOptions& options, std::shared_ptr<HttpReply> reply)
      : RunWork(model, {request.sample}, 1, options, std::move(reply)), request_(request), dialect_(dialect) {
    request_.sample.clear();
  }

 protected:
  HttpResponse answer(std::span<const std::vector<Result>> results) const override {
    return transcription(results.front().front(), request_, model().bundle(), dialect_);
  }

 private:
  TranscriptionRequest request_;
  Dialect dialect_;
};

// Faults in the form that OpenAI's clients read: {"error": {"message", "type", "param", "code"}}.
class OpenAiReply final : public HttpReply {
 public:
  explicit OpenAiReply(std::shared_ptr<HttpReply> reply) : reply_(std::move(reply)) {}
  void header(const std::string& name, const std::string& value) override { reply_->header(name, value); }
  void send(HttpResponse response) override {
    if (response.status >= 400) {
      // Every fault of this server has that member.
      const auto message = parse_json(response.body, "[transcriptions]").at("error").get<std::string>();
      const OrderedJson error{{"message", message},
                              {"type", response.status < 500 ? "invalid_request_error" : "server_error"},
                              {"param", nullptr},
                              {"code", nullptr}};
      response.body = one_line(OrderedJson{{"error", error}}) + "\n";
    }
    reply_->send(std::move(response));
  }
  void event(const std::string& name, const std::string& data) override { reply_->event(name, data); }
  void end() override { reply_->end(); }
  bool gone() const override { return reply_->gone(); }

 private:
  std::shared_ptr<HttpReply> reply_;
};

std::shared_ptr<Work> transcribe(const AdapterCall& call, Dialect dialect, std::shared_ptr<HttpReply> reply) {
  const TranscriptionRequest request = transcription_request(call.request, dialect);
  return std::make_shared<TranscriptionWork>(call.models.named_of_job(call.job, request.model), request, dialect,
                                             call.options, std::move(reply));
}

std::shared_ptr<Work> transcribe_for_openai(const AdapterCall& call) {
  const auto reply = std::make_shared<OpenAiReply>(call.reply);
  try {
    return transcribe(call, Dialect::openai, reply);
  } catch (const HttpError& error) {
    reply->send(error_response(error.status(), error.what()));
    return nullptr;
  }
}

std::shared_ptr<Work> transcribe_for_whisper(const AdapterCall& call) {
  return transcribe(call, Dialect::whisper, call.reply);
}

const RegisterAdapter openai_path{{"recognition", "POST", "/v1/audio/transcriptions", transcribe_for_openai}};
const RegisterAdapter whisper_path{{"recognition", "POST", "/inference", transcribe_for_whisper}};

}  // namespace
}  // namespace heed
