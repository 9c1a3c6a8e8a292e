#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "heed/data/words.h"
#include "heed/serve/answers.h"
#include "heed/base/base64.h"
#include "heed/serve/work.h"
#include "serve/heard.h"
#include "support/messages.h"
#include "support/temporary_folder.h"

// Work for a model that chooses a label and reads an image beside a text: nothing in the server is made for writers of
// words alone.

namespace heed {
namespace {

using Json = nlohmann::json;
using test::Heard;

// An "image" is a mark and as many regions as bytes follow it.
constexpr std::string_view kMark = "heed-test-image:";

Value decode_regions(std::string_view bytes, const std::string&) {
  return {.numbers = Tensor(Shape{static_cast<Index>(bytes.size() - kMark.size()), 1}, Real{1})};
}
const RegisterKindDecoder region_decoder{
    {.kind = Kind::image, .endings = {}, .beginning = std::string(kMark), .decode = decode_regions}};

class Regions final : public Sense {
 public:
  Index width() const override { return 1; }
  Featured operator()(const Value& value) const override {
    return {.features = value.numbers, .rows = 1, .columns = value.numbers.size(0)};
  }
};

const Job& comparing() {
  static const Job job{.name = "comparing",
                       .verb = "compare",
                       .summary = "",
                       .inputs = {{.name = "text"}, {.name = "image", .kind = Kind::image}},
                       .output = {.name = "longer", .kind = Kind::label},
                       .columns = {},
                       .system = ""};
  return job;
}

struct NoConfig final : Config {
  void visit(Fields&) override {}
};

// Says which of its inputs is longer, looking at all regions of the image alike.
class Comparer final : public Chooser {
 public:
  std::vector<AttentionShape> attentions() const override { return {{"look", 1, 1, kOutput, 1}}; }
  std::pair<int, int> alignment_axes() const override { return {kOutput, 1}; }
  Chosen forward(const std::vector<Source>& inputs, const ForwardOptions&) const override {
    const Index batch = inputs[0].batch(), places = inputs[1].longest();
    Tensor scores(Shape{batch, 2});
    for (Index i = 0; i < batch; ++i)
      for (Index k = 0; k < 2; ++k)
        scores.data()[2 * i + k] = static_cast<Real>(inputs[static_cast<std::size_t>(k)].lengths.data()[i]);
    return {Var(scores), Var(Tensor(Shape{batch, 1, places}, Real{1} / static_cast<Real>(places))), {}};
  }
};

class ChooserWork : public testing::Test {
 protected:
  ChooserWork() {
    system_.name = "comparer";
    const TemporaryFolder folder;
    std::ofstream(folder.path() / "words") << "a b c\n";
    auto bundle = std::make_shared<Bundle>();
    bundle->job = &comparing(), bundle->system = &system_;
    bundle->config = std::make_unique<NoConfig>();
    bundle->config->inputs = {0, 1};
    bundle->codes = {.inputs = {train_words(std::vector{(folder.path() / "words").string()}, {}), nullptr},
                     .senses = {nullptr, std::make_shared<Regions>()},
                     .output = nullptr,
                     .labels = {"text", "image"}};
    bundle->parameters = std::make_unique<Parameters>();
    auto model = std::make_unique<Comparer>();
    bundle->chooser = model.get(), bundle->model = std::move(model);
    model_ = std::make_shared<ServedModel>(ModelSource{"c", ""}, bundle, 1);
  }

  static std::string image(int regions) {
    return std::string(kMark) + std::string(static_cast<std::size_t>(regions), 'x');
  }
  static HttpRequest request(const Json& body) {
    HttpRequest request;
    request.body = body.dump();
    return request;
  }
  static Json explained(const std::string& text, int regions) {
    return {{"inputs", {{"text", text}, {"image", {{"base64", base64(image(regions))}}}}}};
  }
  std::shared_ptr<Heard> explain(const Json& body, bool stream = false) {
    ExplainRequest explain = explain_request(request(body), {});
    explain.stream = stream;
    return done([&](auto reply) { return explain_work(model_, std::move(explain), {}, {}, reply); });
  }
  template <class Make>
  std::shared_ptr<Heard> done(const Make& make) {
    const auto heard = std::make_shared<Heard>();
    const std::shared_ptr<Work> work = make(heard);
    work->run({work.get()});
    return heard;
  }

  System system_;
  std::shared_ptr<ServedModel> model_;
};

TEST_F(ChooserWork, IsDescribed) {
  const Json description = Json::parse(model_answer(*model_).body);
  EXPECT_EQ(description.at("outputs"), Json::parse(R"([{"name": "longer", "datatype": "BYTES", "shape": [-1]},
                                                       {"name": "probability", "datatype": "FP32", "shape": [-1]}])"));
  EXPECT_EQ(description.at("inputs")[1].at("name"), "image");
  EXPECT_EQ(description.at("parameters").at("labels"), Json::array({"text", "image"}));
  EXPECT_EQ(model_->attentions().at(0).columns, "image");
  EXPECT_EQ(model_->attentions().at(0).rows, "longer");
}

TEST_F(ChooserWork, IsExplained) {
  const Json trace = Json::parse(explain(explained("a", 4))->answer.body);
  EXPECT_EQ(trace.at("job"), "comparing");
  EXPECT_EQ(trace.at("choices")[0].at("label"), "image");
  EXPECT_EQ(trace.at("alignment")[0], Json::array({0.25, 0.25, 0.25, 0.25}));
  Json given = explained("a", 4);
  given["target"] = "text";
  const Json forced = Json::parse(explain(given)->answer.body);
  EXPECT_EQ(forced.at("axes").back().at("text"), "text");
  EXPECT_EQ(forced.at("choices"), trace.at("choices"));
  given["target"] = "txt";
  EXPECT_EQ(test::message_of([&] { explain(given); }), "[comparing] the model has no label txt; did you mean text?");
}

TEST_F(ChooserWork, StreamsItsTraceAlone) {
  const std::shared_ptr<Heard> heard = explain(explained("a b c", 1), true);
  ASSERT_EQ(heard->events.size(), 1u);
  EXPECT_EQ(heard->events[0].first, "trace");
  EXPECT_EQ(Json::parse(heard->events[0].second).at("choices")[0].at("label"), "text");
  EXPECT_TRUE(heard->ended);
}

TEST_F(ChooserWork, FaultsOfInputs) {
  const auto status = [&](const Json& inputs) {
    try {
      explain({{"inputs", inputs}});
    } catch (const HttpError& error) {
      return error.status();
    } catch (const Error&) {
      return 422;  // as the service answers
    }
    return 200;
  };
  const std::string good = base64(image(1));
  EXPECT_EQ(status({{"text", "a"}, {"image", {{"base64", good}}}}), 200);
  EXPECT_EQ(status({{"text", "a"}, {"image", {{"base64", "?"}}}}), 400);
  EXPECT_EQ(status({{"text", "a"}, {"image", {{"base64", base64("no image")}}}}), 422);
  EXPECT_EQ(status({{"text", "a"}, {"image", "picture.png"}}), 400);
  EXPECT_EQ(status({{"text", "a"}, {"picture", {{"base64", good}}}}), 400);
  EXPECT_EQ(status({{"text", {{"base64", good}}}, {"image", {{"base64", good}}}}), 400);
}

TEST_F(ChooserWork, AnswersAtItsVerb) {
  const Json body{{"text", {"a b c", "a"}},
                  {"image", {{{"base64", base64(image(1))}}, {{"base64", base64(image(3))}}}}};
  const auto heard = done([&](auto reply) { return verb_work(model_, verb_request(request(body)), {}, {}, reply); });
  const Json outputs = Json::parse(heard->answer.body).at("outputs");
  ASSERT_EQ(outputs.size(), 2u);
  EXPECT_EQ(outputs[0].at("text"), "text");
  EXPECT_EQ(outputs[1].at("text"), "image");
  EXPECT_GT(outputs[0].at("score"), 0.5);
  EXPECT_NEAR(std::exp(outputs[0].at("log_probability").get<double>()), outputs[0].at("score").get<double>(), 1e-6);
}

TEST_F(ChooserWork, InfersLabelsAndProbabilities) {
  const auto infer = [&](const HttpRequest& asked) {
    const auto heard = done([&](auto reply) { return infer_work(model_, infer_request(asked, {}), {}, {}, reply); });
    return heard->answer;
  };
  const Json text{{"name", "text"}, {"datatype", "BYTES"}, {"shape", {1}}, {"data", {"a"}}};
  const Json as_base64{{"name", "image"}, {"datatype", "BYTES"}, {"shape", {1}}, {"data", {base64(image(3))}}};
  const Json outputs = Json::parse(infer(request({{"inputs", {text, as_base64}}})).body).at("outputs");
  EXPECT_EQ(outputs[0].at("name"), "longer");
  EXPECT_EQ(outputs[0].at("data"), Json::array({"image"}));
  EXPECT_EQ(outputs[1].at("datatype"), "FP32");
  EXPECT_GT(outputs[1].at("data")[0], 0.5);

  const std::string bytes = std::string(1, static_cast<char>(image(3).size())) + std::string(3, '\0') + image(3);
  const Json as_bytes{
      {"name", "image"}, {"datatype", "BYTES"}, {"shape", {1}}, {"parameters", {{"binary_data_size", bytes.size()}}}};
  HttpRequest binary = request({{"inputs", {text, as_bytes}},
                                {"outputs", {{{"name", "probability"}, {"parameters", {{"binary_data", true}}}}}}});
  binary.tensor_header = std::to_string(binary.body.size());
  binary.body += bytes;
  const HttpResponse answer = infer(binary);
  float probability = 0;
  std::memcpy(&probability, answer.body.data() + answer.body.size() - sizeof probability, sizeof probability);
  EXPECT_NEAR(probability, outputs[1].at("data")[0].get<double>(), 1e-6);
  HttpRequest raw = request(Json::object());
  raw.tensor_header = "0";
  EXPECT_EQ(test::message_of([&] { infer(raw); }), "comparing reads 2 inputs; name them");
}

TEST_F(ChooserWork, EndsAtEveryStepWhenNobodyWaits) {
  const auto explained_steps = [&](const Json& body) {
    return test::leave_at_every_step(
        [&](auto reply) { return explain_work(model_, explain_request(request(body), {}), {}, {}, reply); });
  };
  EXPECT_EQ(explained_steps(explained("a", 1)), std::pair(1, std::string()));
  Json many{{"text", Json::array()}, {"image", Json::array()}};
  for (int i = 0; i < 100; ++i) {
    many["text"].push_back("a b");
    many["image"].push_back({{"base64", base64(image(i + 1))}});
  }
  const auto [steps, fault] = test::leave_at_every_step(
      [&](auto reply) { return verb_work(model_, verb_request(request(many)), {}, {}, reply); });
  EXPECT_EQ(fault, "");
  EXPECT_GE(steps, 2);  // a batch of 64 and the rest
}

}  // namespace
}  // namespace heed
