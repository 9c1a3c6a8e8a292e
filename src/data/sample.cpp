#include "heed/data/sample.h"

#include <algorithm>

#include "heed/base/error.h"
#include "heed/data/archive.h"

namespace heed {
namespace {

constexpr std::size_t kLargestFile = std::size_t{256} << 20;

std::vector<KindDecoder>& registry() {
  static std::vector<KindDecoder> list;
  return list;
}

}  // namespace

const char* name_of(Kind kind) {
  switch (kind) {
    case Kind::text: return "text";
    case Kind::document: return "document";
    case Kind::image: return "image";
    case Kind::sound: return "sound";
    case Kind::choice: return "choice";
    default: return "label";
  }
}

Sample sample_of(std::vector<std::string> texts, std::vector<std::string> outputs) {
  Sample sample;
  for (std::string& text : texts) sample.inputs.push_back({.text = std::move(text)});
  sample.outputs = std::move(outputs);
  return sample;
}

std::optional<std::string> repeated_choice(std::vector<std::string> choices) {
  std::sort(choices.begin(), choices.end());
  const auto twice = std::adjacent_find(choices.begin(), choices.end());
  return twice == choices.end() ? std::nullopt : std::optional(*twice);
}

Sample without_outputs(const Sample& sample) { return {.inputs = sample.inputs, .choices = sample.choices}; }

RegisterKindDecoder::RegisterKindDecoder(KindDecoder decoder) { registry().push_back(std::move(decoder)); }

const std::vector<KindDecoder>& kind_decoders() { return registry(); }

Value decode_value(Kind kind, std::string_view bytes, const std::string& name) {
  if (is_text(kind)) return {.text = std::string(bytes)};
  for (const KindDecoder& decoder : registry()) {
    if (decoder.kind != kind || !bytes.starts_with(decoder.beginning)) continue;
    Value value = decoder.decode(bytes, name);
    value.text = name;
    return value;
  }
  fail("{}: it is no {} that can be read here", name, name_of(kind));
}

Value read_value(Kind kind, const std::string& text_or_path) { return decoded(kind, open_value(kind, text_or_path)); }

Value open_value(Kind kind, const std::string& text_or_path) {
  if (is_text(kind)) return {.text = text_or_path};
  const auto reader = std::find_if(registry().begin(), registry().end(),
                                   [kind](const KindDecoder& decoder) { return decoder.kind == kind && decoder.read; });
  return {.text = text_or_path,
          .bytes = std::make_shared<const std::string>(reader != registry().end()
                                                           ? reader->read(text_or_path)
                                                           : read_file_or_member(text_or_path, kLargestFile))};
}

Value decoded(Kind kind, const Value& value) {
  if (is_text(kind) || value.numbers) return value;
  require(value.bytes != nullptr, "{}: there is nothing in it", value.text);
  Value result = decode_value(kind, *value.bytes, value.text);
  result.bytes = value.bytes;
  return result;
}

}  // namespace heed
