#include "heed/serve/tensors.h"

#include <algorithm>
#include <bit>
#include <charconv>
#include <cstring>

#include "heed/base/spelling.h"
#include "heed/serve/body-inl.h"

namespace heed {
namespace {

using Json = nlohmann::json;
using Output = nlohmann::ordered_json;

constexpr std::size_t kLengthBytes = 4;  // before each element of BYTES
constexpr std::size_t kMostAxes = 8;

void put_little_endian(std::string& bytes, std::uint32_t number) {
  for (int shift = 0; shift < 32; shift += 8) bytes += static_cast<char>(number >> shift & 0xff);
}

std::uint32_t little_endian(std::string_view bytes) {
  std::uint32_t number = 0;
  for (std::size_t i = kLengthBytes; i-- > 0;) number = number << 8 | static_cast<unsigned char>(bytes[i]);
  return number;
}

std::string_view take(std::string_view& bytes, std::size_t count) {
  const std::string_view taken = bytes.substr(0, count);
  bytes.remove_prefix(count);
  return taken;
}

// Elements of BYTES, one after the other, each after its length.
std::vector<std::string> elements_in(const std::string& name, std::string_view bytes) {
  std::vector<std::string> elements;
  while (!bytes.empty()) {
    if (bytes.size() < kLengthBytes) refuse(400, "the bytes of {} end in the middle of a length", name);
    const std::size_t length = little_endian(take(bytes, kLengthBytes));
    if (length > bytes.size())
      refuse(400, "an element of {} has {} bytes, but only {} are there", name, length, bytes.size());
    elements.emplace_back(take(bytes, length));
  }
  return elements;
}

// Flat or nested as its shape is, in order.
void flatten(const Json& data, std::vector<std::string>& elements) {
  if (!data.is_array()) {
    elements.push_back(text_in("data", data));
    return;
  }
  for (const Json& item : data) flatten(item, elements);
}

std::vector<Index> shape_of(const std::string& name, const Members& tensor, std::size_t elements) {
  const Json* sizes = tensor.find("shape");
  if (sizes == nullptr || !sizes->is_array() || sizes->size() > kMostAxes)
    refuse(400, "the shape of {} must be a list of at most {} sizes", name, kMostAxes);
  std::vector<Index> shape;
  Index product = 1;
  for (const Json& size : *sizes) {
    if (!size.is_number_unsigned() || size.get<std::uint64_t>() > elements)
      refuse(400, "the shape of {} does not fit its {} elements", name, elements);
    shape.push_back(size.get<Index>());
    product = std::min<Index>(product * shape.back(), Index{1} << 30);
  }
  if (product != static_cast<Index>(elements))
    refuse(400, "the shape of {} holds {} elements, but its data has {}", name, product, elements);
  return shape;
}

// The members of "parameters", if they are there.
Json parameters_of(const Members& members) {
  const Json* parameters = members.find("parameters");
  if (parameters == nullptr) return Json::object();
  if (!parameters->is_object()) refuse(400, "parameters must be an object, not {}", Members::kind(*parameters));
  return *parameters;
}

// `binary` is what is left of the bytes behind the JSON.
SentTensor tensor_in(const Json& json, std::string_view& binary) {
  if (!json.is_object()) refuse(400, "inputs must be a list of tensors");
  const Members members(json);
  SentTensor tensor;
  members.read("name", tensor.name);
  if (tensor.name.empty()) refuse(400, "an input tensor has no name");
  const std::string name = shown(tensor.name);
  std::string type;
  members.read("datatype", type);
  if (type != "BYTES") refuse(400, "the datatype of {} must be BYTES", name);
  const Json parameters = parameters_of(members);
  const Json* data = members.find("data");
  if (const Members binary_members(parameters); binary_members.find("binary_data_size") != nullptr) {
    if (data != nullptr) refuse(400, "{} has both data and binary_data_size", name);
    Index size = 0;
    binary_members.read("binary_data_size", size, 0, static_cast<Index>(binary.size()));
    tensor.elements = elements_in(name, take(binary, static_cast<std::size_t>(size)));
    tensor.binary = true;
  } else {
    if (data == nullptr || !data->is_array()) refuse(400, "the data of {} must be a list of texts", name);
    flatten(*data, tensor.elements);
  }
  tensor.shape = shape_of(name, members, tensor.elements.size());
  return tensor;
}

// The bytes of the body before its binary tensors; all of it without the header.
std::size_t json_length(const HttpRequest& request) {
  if (request.tensor_header.empty()) return request.body.size();
  const char* const end = request.tensor_header.data() + request.tensor_header.size();
  std::size_t length = 0;
  const auto [stopped, error] = std::from_chars(request.tensor_header.data(), end, length);
  if (error != std::errc() || stopped != end || length > request.body.size())
    refuse(400, "{} must be a whole number up to the {} bytes of the body", kTensorHeader, request.body.size());
  return length;
}

void read_outputs(const Members& members, InferRequest& result) {
  const Json parameters = parameters_of(members);
  Members(parameters).read("binary_data_output", result.binary_outputs);
  const Json* outputs = members.find("outputs");
  if (outputs == nullptr) return;
  if (!outputs->is_array()) refuse(400, "outputs must be a list");
  for (const Json& json : *outputs) {
    if (!json.is_object()) refuse(400, "outputs must be a list of tensors");
    const Members output(json);
    InferRequest::Output& asked = result.outputs.emplace_back(InferRequest::Output{"", result.binary_outputs});
    output.read("name", asked.name);
    const Json own = parameters_of(output);
    Members(own).read("binary_data", asked.binary);
  }
}

std::string bytes_of(const GivenTensor& tensor) {
  std::string bytes;
  for (const float number : tensor.numbers) put_little_endian(bytes, std::bit_cast<std::uint32_t>(number));
  for (const std::string& text : tensor.texts) {
    put_little_endian(bytes, static_cast<std::uint32_t>(text.size()));
    bytes += text;
  }
  return bytes;
}

}  // namespace

InferRequest infer_request(const HttpRequest& request, const RequestLimits& limits) {
  const std::size_t length = json_length(request);
  InferRequest result;
  if (!request.tensor_header.empty() && length == 0) {
    result.inputs.push_back({"", {1}, {request.body}, true});
    result.binary_outputs = true;
    return result;
  }
  std::string_view binary = std::string_view(request.body).substr(length);
  const Json json = read_json(std::string_view(request.body).substr(0, length));
  const Members members(json);
  members.read("id", result.id);
  const Json* inputs = members.find("inputs");
  if (inputs == nullptr || !inputs->is_array() || inputs->empty()) refuse(400, "inputs must be a list of tensors");
  if (static_cast<Index>(inputs->size()) > limits.texts) refuse(422, "inputs has {} tensors", inputs->size());
  for (const Json& tensor : *inputs) result.inputs.push_back(tensor_in(tensor, binary));
  if (!binary.empty()) refuse(400, "{} bytes behind the JSON belong to no tensor", binary.size());
  read_outputs(members, result);
  return result;
}

std::vector<InferRequest::Output> asked_outputs(const InferRequest& request, const std::vector<std::string>& names) {
  for (const InferRequest::Output& output : request.outputs)
    if (std::find(names.begin(), names.end(), output.name) == names.end())
      refuse(400, "there is no output {}{}", shown(output.name), did_you_mean(shown(output.name), names));
  if (!request.outputs.empty()) return request.outputs;
  std::vector<InferRequest::Output> all;
  all.reserve(names.size());
  for (const std::string& name : names) all.push_back({name, request.binary_outputs});
  return all;
}

HttpResponse infer_answer(const std::string& model, const std::string& id, const std::vector<GivenTensor>& tensors,
                          const std::vector<InferRequest::Output>& asked) {
  Output result{{"model_name", model}, {"model_version", "1"}};
  if (!id.empty()) result["id"] = id;
  Output& outputs = result["outputs"] = Output::array();
  std::string binary;
  bool any_binary = false;
  for (const InferRequest::Output& output : asked) {
    const GivenTensor& tensor =
        *std::find_if(tensors.begin(), tensors.end(), [&](const auto& each) { return each.name == output.name; });
    Output& told =
        outputs.emplace_back(Output{{"name", tensor.name}, {"datatype", tensor.datatype()}, {"shape", tensor.shape}});
    if (output.binary) {
      const std::string bytes = bytes_of(tensor);
      told["parameters"] = {{"binary_data_size", bytes.size()}};
      binary += bytes;
      any_binary = true;
    } else if (tensor.is_numbers) {
      told["data"] = tensor.numbers;
    } else {
      told["data"] = tensor.texts;
    }
  }
  if (!any_binary) return json_answer(result);
  const std::string json = one_line(result);
  return {200, json + binary, "application/octet-stream", {{kTensorHeader, std::to_string(json.size())}}};
}

}  // namespace heed
