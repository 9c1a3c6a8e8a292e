#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "heed/data/sound_files.h"
#include "heed/serve/adapter.h"
#include "serve/heard.h"
#include "support/temporary_folder.h"
#include "support/tiny_bundle.h"

// What clients of OpenAI and of whisper.cpp send to a recogniser, and what they get.

namespace heed::test {
namespace {

using Json = nlohmann::json;

std::string tone(double seconds) {
  std::vector<float> samples;
  for (int i = 0; i < static_cast<int>(16'000 * seconds); ++i)
    samples.push_back(0.3F * static_cast<float>(std::sin(0.05 * i)));
  return wav_bytes(samples, 16'000);
}

struct Field {
  std::string name, value;
  bool is_file = false;
};

HttpRequest audio_form(const std::string& path, const std::vector<Field>& fields) {
  HttpRequest request;
  request.method = "POST", request.target = path;
  request.content_type = "multipart/form-data; boundary=frontier";
  for (const Field& field : fields)
    request.body += fmt::format("--frontier\r\nContent-Disposition: form-data; name=\"{}\"{}\r\n\r\n{}\r\n", field.name,
                                field.is_file ? "; filename=\"a.wav\"" : "", field.value);
  request.body += "--frontier--\r\n";
  return request;
}

class Transcriptions : public testing::Test {
 protected:
  HttpResponse answer(const HttpRequest& request) {
    const auto found =
        std::ranges::find(adapters(), request.target, [](const HttpAdapter& each) { return std::string(each.path); });
    EXPECT_NE(found, adapters().end());
    const auto reply = std::make_shared<Heard>();
    const AdapterCall call{request, job_named("recognition"), shelf_, {}, {}, reply};
    try {
      if (const std::shared_ptr<Work> work = found->answer(call)) work->run({work.get()});
    } catch (const HttpError& error) {
      return error_response(error.status(), error.what());
    }
    return reply->answer;
  }
  HttpResponse openai(std::vector<Field> fields) {
    return answer(audio_form("/v1/audio/transcriptions", std::move(fields)));
  }
  HttpResponse whisper(std::vector<Field> fields) { return answer(audio_form("/inference", std::move(fields))); }

  TemporaryFolder folder_;
  ModelShelf shelf_{
      {{"ear", make_tiny_folder(folder_.path() / "ear", {.system = "listener", .settings = {{"normalise", "none"}}})
                   .string()}},
      1};
};

TEST_F(Transcriptions, ComeInEveryFormat) {
  const Field file{"file", tone(0.5), true};
  const HttpResponse plain = openai({file, {"model", "ear"}});
  ASSERT_EQ(plain.status, 200) << plain.body;
  const std::string text = Json::parse(plain.body).at("text");
  EXPECT_EQ(openai({file, {"response_format", "text"}}).body, text + "\n");
  EXPECT_TRUE(openai({file, {"response_format", "vtt"}}).body.starts_with("WEBVTT\n"));
  EXPECT_TRUE(openai({file, {"response_format", "srt"}}).type.starts_with("application/x-subrip"));
  const Json verbose =
      Json::parse(openai({file, {"response_format", "verbose_json"}, {"timestamp_granularities[]", "word"}}).body);
  EXPECT_EQ(verbose.at("task"), "transcribe");
  EXPECT_EQ(verbose.at("text"), text);
  EXPECT_NEAR(verbose.at("duration"), 0.5, 0.05);
  EXPECT_TRUE(verbose.at("words").is_array());
  EXPECT_FALSE(verbose.contains("segments"));
  const Json segments = Json::parse(openai({file, {"response_format", "verbose_json"}}).body);
  EXPECT_TRUE(segments.at("segments").is_array());
  EXPECT_FALSE(segments.contains("words"));
  const Json whispered = Json::parse(whisper({file, {"response_format", "verbose_json"}}).body);
  for (const Json& segment : whispered.at("segments"))
    for (const Json& word : segment.at("words")) EXPECT_TRUE(word.contains("probability"));
}

TEST_F(Transcriptions, RefuseWhatTheyCannotRead) {
  const Field file{"file", tone(0.5), true};
  const auto fault = [](const HttpResponse& response) {
    return std::pair{response.status, Json::parse(response.body)};
  };
  const auto [status, missing] = fault(openai({{"model", "ear"}}));
  EXPECT_EQ(status, 400);
  EXPECT_EQ(missing.at("error").at("type"), "invalid_request_error");
  EXPECT_EQ(missing.at("error").at("message"), "file is missing: the sound that is to be written down");
  EXPECT_EQ(fault(whisper({{"language", "en"}})).second.at("error"), missing.at("error").at("message"));
  EXPECT_EQ(fault(openai({file, file})).first, 400);
  EXPECT_EQ(fault(openai({{"file", "", true}})).first, 400);
  EXPECT_EQ(fault(openai({file, {"response_format", "xml"}})).first, 400);
  EXPECT_EQ(fault(openai({file, {"timestamp_granularities[]", "letter"}})).first, 400);
  EXPECT_EQ(fault(openai({file, {"stream", "true"}})).first, 400);
  EXPECT_EQ(fault(openai({file, {"model", "eye"}})).first, 404);
  HttpRequest json = audio_form("/inference", {file});
  json.content_type = "application/json";
  EXPECT_EQ(answer(json).status, 415);
}

}  // namespace
}  // namespace heed::test
