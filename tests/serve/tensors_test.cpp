#include "heed/serve/tensors.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace heed {
namespace {

using Json = nlohmann::json;
using Texts = std::vector<std::string>;

InferRequest read(const std::string& body, const std::string& header = "") {
  HttpRequest request;
  request.body = body, request.tensor_header = header;
  return infer_request(request, {});
}
// The JSON with bytes behind it.
InferRequest read_binary(const std::string& json, const std::string& bytes) {
  return read(json + bytes, std::to_string(json.size()));
}
template <class... Args>
std::string tensor_refusal(const Args&... args) {
  try {
    if constexpr (sizeof...(args) == 1)
      read(args...);
    else
      read_binary(args...);
  } catch (const HttpError& error) {
    return fmt::format("{} {}", error.status(), error.what());
  }
  ADD_FAILURE() << "it was not refused";
  return "";
}

// ["hi", "né"] as the protocol writes it.
const std::string kTwoTexts("\x02\0\0\0hi\x03\0\0\0n\xc3\xa9", 13);

std::string binary_tensor(const std::string& shape, std::size_t size) {
  return fmt::format(
      R"({{"name": "text", "datatype": "BYTES", "shape": {}, "parameters": {{"binary_data_size": {}}}}})", shape, size);
}

TEST(InferRequest, ReadsFlatAndNestedTensors) {
  const InferRequest flat =
      read(R"({"id": "7", "inputs": [{"name": "text", "datatype": "BYTES", "shape": [2], "data": ["a", "b"]}]})");
  EXPECT_EQ(flat.id, "7");
  EXPECT_EQ(flat.inputs.at(0).elements, (Texts{"a", "b"}));
  EXPECT_FALSE(flat.inputs[0].binary || flat.binary_outputs);
  const InferRequest nested =
      read(R"({"inputs": [{"name": "text", "datatype": "BYTES", "shape": [2, 1], "data": [["a"], ["b"]]}],
               "outputs": [{"name": "translation"}]})");
  EXPECT_EQ(nested.inputs.at(0).elements, flat.inputs[0].elements);
  EXPECT_EQ(nested.inputs[0].shape, (std::vector<Index>{2, 1}));
  EXPECT_EQ(nested.outputs.at(0).name, "translation");
}

TEST(InferRequest, ReadsBinaryTensorsInTheirOrder) {
  const std::string json =
      fmt::format(R"({{"inputs": [{}, {{"name": "b", "datatype": "BYTES", "shape": [1], "data": ["x"]}}, {}],
                       "parameters": {{"binary_data_output": true}},
                       "outputs": [{{"name": "p"}}, {{"name": "q", "parameters": {{"binary_data": false}}}}]}})",
                  binary_tensor("[2]", 13), binary_tensor("[1]", 6));
  const InferRequest request = read_binary(json, kTwoTexts + std::string("\x02\0\0\0yz", 6));
  EXPECT_EQ(request.inputs.at(0).elements, (Texts{"hi", "né"}));
  EXPECT_TRUE(request.inputs[0].binary);
  EXPECT_EQ(request.inputs.at(1).elements, Texts{"x"});
  EXPECT_FALSE(request.inputs[1].binary);
  EXPECT_EQ(request.inputs.at(2).elements, Texts{"yz"});
  EXPECT_TRUE(request.outputs.at(0).binary);
  EXPECT_FALSE(request.outputs.at(1).binary);
  const InferRequest raw = read("any bytes", "0");
  EXPECT_EQ(raw.inputs.at(0).elements, Texts{"any bytes"});
  EXPECT_EQ(raw.inputs[0].shape, std::vector<Index>{1});
  EXPECT_TRUE(raw.binary_outputs);
}

TEST(InferRequest, FaultsAreExplained) {
  const auto tensor = [](const char* shape, const char* data) {
    return fmt::format(R"({{"inputs": [{{"name": "text", "datatype": "BYTES", "shape": {}, "data": {}}}]}})", shape,
                       data);
  };
  EXPECT_EQ(tensor_refusal("{}"), "400 inputs must be a list of tensors");
  EXPECT_EQ(tensor_refusal(R"({"inputs": []})"), "400 inputs must be a list of tensors");
  EXPECT_EQ(tensor_refusal(R"({"inputs": [7]})"), "400 inputs must be a list of tensors");
  EXPECT_EQ(tensor_refusal(R"({"inputs": [{}]})"), "400 an input tensor has no name");
  EXPECT_EQ(tensor_refusal(R"({"inputs": [{"name": "text", "datatype": "FP32"}]})"),
            "400 the datatype of text must be BYTES");
  EXPECT_EQ(tensor_refusal(tensor("[1]", "[1]")), "400 data must hold texts, not a whole number");
  EXPECT_EQ(tensor_refusal(tensor("[1]", "\"a\"")), "400 the data of text must be a list of texts");
  EXPECT_EQ(tensor_refusal(tensor("[3]", R"(["a"])")), "400 the shape of text does not fit its 1 elements");
  EXPECT_EQ(tensor_refusal(tensor("[-1]", R"(["a"])")), "400 the shape of text does not fit its 1 elements");
  EXPECT_EQ(tensor_refusal(tensor("[1, 1]", R"(["a", "b"])")),
            "400 the shape of text holds 1 elements, but its data has 2");
}

TEST(InferRequest, FaultsOfBinaryTensorsAreExplained) {
  const auto one = [](const std::string& shape, std::size_t size) {
    return fmt::format(R"({{"inputs": [{}]}})", binary_tensor(shape, size));
  };
  EXPECT_EQ(tensor_refusal(one("[2]", 14), kTwoTexts), "400 binary_data_size must be from 0 to 13");
  EXPECT_EQ(tensor_refusal(one("[2]", 13), kTwoTexts + "x"), "400 1 bytes behind the JSON belong to no tensor");
  EXPECT_EQ(tensor_refusal(one("[1]", 13), kTwoTexts), "400 the shape of text holds 1 elements, but its data has 2");
  EXPECT_EQ(tensor_refusal(one("[2]", 9), kTwoTexts.substr(0, 9)),
            "400 the bytes of text end in the middle of a length");
  EXPECT_EQ(tensor_refusal(one("[2]", 12), kTwoTexts.substr(0, 12)),
            "400 an element of text has 3 bytes, but only 2 are there");
  EXPECT_EQ(tensor_refusal(one("[1]", 4), "\xff\xff\xff\xff"),
            "400 an element of text has 4294967295 bytes, but only 0 are there");
  EXPECT_EQ(tensor_refusal(R"({"inputs": [{"name": "text", "datatype": "BYTES", "shape": [0], "data": [],
                        "parameters": {"binary_data_size": 0}}]})"),
            "400 text has both data and binary_data_size");
  EXPECT_EQ(tensor_refusal(R"({"inputs": [{"name": "text", "datatype": "BYTES", "parameters": 1}]})"),
            "400 parameters must be an object, not a whole number");
  for (const char* header : {"99", "-1", "x", "1x", "99999999999999999999"}) {
    HttpRequest request;
    request.body = "{}", request.tensor_header = header;
    try {
      infer_request(request, {});
      ADD_FAILURE() << header;
    } catch (const HttpError& error) {
      EXPECT_EQ(error.status(), 400);
      EXPECT_STREQ(error.what(),
                   "Inference-Header-Content-Length must be a whole number up to the 2 bytes of the body");
    }
  }
}

TEST(InferAnswer, GivesWhatWasAskedForInTheFormAskedFor) {
  const std::vector<GivenTensor> tensors{{"label", {2}, {"hi", "né"}, {}, false},
                                         {"probability", {2}, {}, {0.5F, 1.F}, true}};
  InferRequest request;
  const Json plain =
      Json::parse(infer_answer("m", "7", tensors, asked_outputs(request, {"label", "probability"})).body);
  EXPECT_EQ(plain, Json::parse(R"({"model_name": "m", "model_version": "1", "id": "7", "outputs": [
      {"name": "label", "datatype": "BYTES", "shape": [2], "data": ["hi", "né"]},
      {"name": "probability", "datatype": "FP32", "shape": [2], "data": [0.5, 1.0]}]})"));
  request.outputs = {{"probability", true}, {"label", true}};
  const HttpResponse answer = infer_answer("m", "", tensors, asked_outputs(request, {"label", "probability"}));
  EXPECT_EQ(answer.type, "application/octet-stream");
  ASSERT_EQ(answer.headers.size(), 1u);
  EXPECT_EQ(answer.headers[0].first, "Inference-Header-Content-Length");
  const std::size_t length = std::stoul(answer.headers[0].second);
  const Json json = Json::parse(answer.body.substr(0, length));
  EXPECT_EQ(json.at("outputs")[0].at("parameters").at("binary_data_size"), 8);
  EXPECT_EQ(json.at("outputs")[1].at("parameters").at("binary_data_size"), 13);
  EXPECT_FALSE(json.at("outputs")[0].contains("data"));
  EXPECT_EQ(answer.body.substr(length), std::string("\0\0\0\x3f\0\0\x80\x3f", 8) + kTwoTexts);
  request.outputs = {{"labl", false}};
  EXPECT_THROW(asked_outputs(request, {"label"}), HttpError);
}

}  // namespace
}  // namespace heed
