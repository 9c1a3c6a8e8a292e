#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "heed/tensor/tensor.h"

// What a person gives and gets, before any model: the same for every job.

namespace heed {

// What a job reads or gives. Texts and documents are text to a reader of files; a document has sentences. A label is
// one of those that a model was trained on, a choice one of those that a sample has: words of its first input, or
// options.
enum class Kind { text, document, image, sound, label, choice };
const char* name_of(Kind kind);  // "text", ...
inline bool is_chosen(Kind kind) { return kind == Kind::label || kind == Kind::choice; }
inline bool is_text(Kind kind) { return kind == Kind::text || kind == Kind::document; }

// One input.
struct Value {
  std::string text = {};  // of a text or a document, one line of UTF-8; of others the name of what was read
  // Of an image or a sound: as it is encoded, or decoded, or both.
  std::shared_ptr<const std::string> bytes = {};
  Tensor numbers = {};       // of an image [height, width, channels], each in 0..1; of a sound [samples, channels]
  double rate = 0;           // of a sound: samples per second
  double frame_seconds = 0;  // of a sound as features that somebody made, [frames, width]: from one to the next
};

struct Sample {
  std::vector<Value> inputs = {};         // in the job's order
  std::vector<std::string> outputs = {};  // references, or one label; none where nothing is known
  std::vector<std::string> choices = {};  // the options of a question, where they are given
};

// A sample of texts, as a person types them.
Sample sample_of(std::vector<std::string> texts, std::vector<std::string> outputs = {});
// A choice that is there twice; nothing where all are different.
std::optional<std::string> repeated_choice(std::vector<std::string> choices);
// What a model is asked: the sample without its answer.
Sample without_outputs(const Sample& sample);

// How bytes become a Value of a kind. Texts need no decoder; each of the others registers itself, and an input that no
// decoder knows is an Error.
struct KindDecoder {
  Kind kind;
  std::vector<std::string> endings;  // of file names: ".jpg", ".png"
  std::string beginning;             // of the bytes; empty: any
  Value (*decode)(std::string_view bytes, const std::string& name);
  // The bytes of that name, of a kind whose names say more than a path; nothing: those of the file.
  std::string (*read)(const std::string& name) = nullptr;
};
struct RegisterKindDecoder {
  explicit RegisterKindDecoder(KindDecoder decoder);
};
const std::vector<KindDecoder>& kind_decoders();
// `name` leads messages and becomes the Value's text.
Value decode_value(Kind kind, std::string_view bytes, const std::string& name);
// A text as it stands; of other kinds the file of that path, which may go through a tar (data/archive.h), decoded.
Value read_value(Kind kind, const std::string& text_or_path);
// The same, not decoded yet.
Value open_value(Kind kind, const std::string& text_or_path);
// The value with its numbers; an Error if its bytes are none of the kind.
Value decoded(Kind kind, const Value& value);

}  // namespace heed
