#include "heed/trace/trace_json.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "heed/base/error.h"
#include "heed/trace/unit_times.h"

namespace heed {
namespace {

using Json = nlohmann::json;

std::string quoted(const std::string& text) { return Json(text).dump(-1, ' ', false, Json::error_handler_t::replace); }

template <class Number>
void write_number(std::string& out, Number number) {
  fmt::format_to(std::back_inserter(out), "{:.5g}", number == 0 ? Number{0} : number);  // no -0
}

// write(out, i) for i from 0, with commas between.
template <class Write>
void write_list(std::string& out, Index count, const Write& write) {
  out += '[';
  for (Index i = 0; i < count; ++i) {
    if (i > 0) out += ',';
    write(out, i);
  }
  out += ']';
}

template <class Number>
void write_numbers(std::string& out, std::span<const Number> numbers) {
  write_list(out, static_cast<Index>(numbers.size()),
             [&](std::string& to, Index i) { write_number(to, numbers[static_cast<std::size_t>(i)]); });
}

template <class Numbers>
bool all_finite(const Numbers& numbers) {
  return std::ranges::all_of(numbers, [](auto x) { return std::isfinite(x); });
}

// A tensor as lists of lists.
void write_weights(std::string& out, const Real* data, const Shape& shape, const WeightFormat& format, int axis = 0) {
  Index stride = 1;
  for (int i = axis + 1; i < shape.rank(); ++i) stride *= shape[i];
  write_list(out, shape[axis], [&](std::string& to, Index i) {
    if (axis == shape.rank() - 1) return write_weight(to, data[i], format);
    write_weights(to, data + i * stride, shape, format, axis + 1);
  });
}

// ,"name": if there is something to write.
void write_name(std::string& out, const char* name) { fmt::format_to(std::back_inserter(out), ",\"{}\":", name); }

bool writable(const Tensor& weights) { return weights && weights.size() > 0 && all_finite(weights.values()); }

void write_field(std::string& out, const char* name, const std::string& text) {
  write_name(out, name);
  out += quoted(text);
}

void write_optional(std::string& out, const char* name, double number) {
  if (!std::isfinite(number)) return;
  write_name(out, name);
  write_number(out, number);
}

// ,"text":...,"tokens":[...],"words":[...],"sentence_ends":[...]
void write_text_fields(std::string& out, const TraceText& text) {
  write_field(out, "text", text.text);
  write_name(out, "tokens");
  write_list(out, static_cast<Index>(text.tokens.size()), [&](std::string& to, Index i) {
    const TraceToken& token = text.tokens[static_cast<std::size_t>(i)];
    to += fmt::format(R"({{"text":{},"begin":{},"end":{},"word":{}}})", quoted(token.text), token.begin, token.end,
                      token.word);
  });
  write_name(out, "words");
  write_list(out, static_cast<Index>(text.words.size()), [&](std::string& to, Index i) {
    const TraceWord& word = text.words[static_cast<std::size_t>(i)];
    to += fmt::format(R"({{"text":{},"begin":{},"end":{}}})", quoted(word.text), word.begin, word.end);
  });
  if (text.sentence_ends.empty()) return;
  write_name(out, "sentence_ends");
  write_list(out, static_cast<Index>(text.sentence_ends.size()), [&](std::string& to, Index i) {
    to += fmt::format("{}", text.sentence_ends[static_cast<std::size_t>(i)]);
  });
}

// The fields that were written, each with a comma before it, as an object.
std::string object_of(const std::string& fields) { return '{' + (fields.empty() ? fields : fields.substr(1)) + '}'; }

void write_axis(std::string& out, const TraceAxis& axis) {
  std::string fields;
  write_field(fields, "name", axis.name);
  write_field(fields, "kind", name_of(axis.kind));
  switch (axis.kind) {
    case Kind::image:
      fields += fmt::format(R"(,"rows":{},"columns":{})", axis.rows, axis.columns);
      if (is_preview(axis.preview)) write_field(fields, "preview", axis.preview);
      break;
    case Kind::sound:
      fields += fmt::format(R"(,"rows":{})", axis.size());
      write_optional(fields, "frame_seconds", axis.frames.step);
      if (axis.frames.margin != 0) write_optional(fields, "frame_margin", axis.frames.margin);
      if (is_preview(axis.preview)) write_field(fields, "preview", axis.preview);
      if (!axis.waveform.empty() && all_finite(axis.waveform)) {
        write_name(fields, "waveform");
        write_list(fields, static_cast<Index>(axis.waveform.size()), [&](std::string& to, Index i) {
          fmt::format_to(std::back_inserter(to), "{:.3g}", axis.waveform[static_cast<std::size_t>(i)]);
        });
      }
      if (is_playable(axis.playable)) write_field(fields, "playable", axis.playable);
      break;
    default: write_text_fields(fields, axis.text);
  }
  out += object_of(fields);
}

void write_attention(std::string& out, const TraceAttention& attention, const WeightFormat& format) {
  out += fmt::format(R"({{"name":{},"layer":{},"rows":{},"columns":{},"weights":)", quoted(attention.name),
                     attention.layer, quoted(attention.rows), quoted(attention.columns));
  const Tensor weights = attention.weights.contiguous();
  write_weights(out, weights.data(), weights.shape(), format);
  out += '}';
}

void write_hypothesis(std::string& out, const TraceHypothesis& hypothesis) {
  out += fmt::format(R"({{"token":{},"from":{})", quoted(hypothesis.token), hypothesis.from);
  write_optional(out, "log_probability", hypothesis.log_probability);
  write_optional(out, "score", hypothesis.score);
  out += fmt::format(R"(,"ended":{},"chosen":{}}})", hypothesis.ended, hypothesis.chosen);
}

void write_trust(std::string& out, const TraceTrust& trust) {
  std::string fields;
  if (!trust.entropy.empty() && all_finite(trust.entropy)) {
    write_name(fields, "entropy");
    write_numbers(fields, std::span<const double>(trust.entropy));
  }
  for (const auto& [name, value] : kTrustNumbers) write_optional(fields, name, trust.*value);
  out += object_of(fields);
}

// Version 1 has two texts, the source and the target, and an alignment between them.
bool fits_version_1(const Trace& trace) {
  const auto is_side = [](const TraceAxis& axis, const char* name) {
    return axis.name == name && axis.kind == Kind::text;
  };
  return trace.axes.size() == 2 && is_side(trace.axes[0], "source") && is_side(trace.axes[1], "target") &&
         trace.row_axis().name == "target" && trace.column_axis().name == "source" && trace.choices.empty();
}

void write_sides(std::string& out, const Trace& trace) {
  if (trace.job != Trace().job) write_field(out, "job", trace.job);
  for (const TraceAxis& axis : trace.axes) {
    write_name(out, axis.name.c_str());
    out += to_json(axis.text);
  }
}

void write_axes(std::string& out, const Trace& trace) {
  write_field(out, "job", trace.job);
  write_name(out, "axes");
  write_list(out, static_cast<Index>(trace.axes.size()),
             [&](std::string& to, Index i) { write_axis(to, trace.axes[static_cast<std::size_t>(i)]); });
  if (!trace.rows.empty()) write_field(out, "alignment_rows", trace.rows);
  if (!trace.columns.empty()) write_field(out, "alignment_columns", trace.columns);
}

// When units and words were said, by the alignment to a sound. It is for those who show a trace: a reader has the
// alignment itself.
void write_times(std::string& out, const Trace& trace) {
  const TraceAxis& sound = trace.column_axis();
  if (sound.kind != Kind::sound || sound.frames.step <= 0 || !is_text(trace.row_axis().kind)) return;
  const Transcript said = unit_times(trace.row_axis().text, trace.alignment, sound.frames, {}).transcript;
  const auto write_words = [&out](const std::vector<TimedWord>& words) {
    write_list(out, static_cast<Index>(words.size()), [&](std::string& to, Index i) {
      const TimedWord& word = words[static_cast<std::size_t>(i)];
      to += fmt::format(R"({{"text":{},"begin":{:.3f},"end":{:.3f}}})", quoted(word.word), word.begin, word.end);
    });
  };
  write_name(out, "times");
  out += R"({"units":)";
  write_words(said.units);
  write_name(out, "words");
  write_words(said.words);
  out += '}';
}

void write_choices(std::string& out, const std::vector<TraceChoice>& choices) {
  const auto finite = [](const TraceChoice& choice) { return std::isfinite(choice.probability); };
  if (choices.empty() || !std::ranges::all_of(choices, finite)) return;
  write_name(out, "choices");
  write_list(out, static_cast<Index>(choices.size()), [&](std::string& to, Index i) {
    const TraceChoice& choice = choices[static_cast<std::size_t>(i)];
    to += fmt::format(R"({{"label":{},"probability":{:.5g}}})", quoted(choice.label), choice.probability);
  });
}

}  // namespace

void write_weight(std::string& out, Real weight, const WeightFormat& format) {
  const bool nothing = weight == 0 || std::abs(static_cast<double>(weight)) < format.least;
  fmt::format_to(std::back_inserter(out), "{:.{}g}", nothing ? Real{0} : weight, format.digits);
}

std::string to_json(const TraceText& text) {
  std::string fields;
  write_text_fields(fields, text);
  return object_of(fields);
}

std::string to_json(const Trace& trace, const WeightFormat& format) {
  Index weights_in_all = trace.alignment ? trace.alignment.size() : 0;
  for (const TraceAttention& each : trace.attentions) weights_in_all += each.weights.size();
  require(weights_in_all <= kMostTraceWeights,
          "[trace] {} weights are more than the {} that a trace may have; take one attention by its name, or a shorter "
          "input",
          weights_in_all, kMostTraceWeights);
  const bool sides = fits_version_1(trace);
  std::string out = fmt::format(R"({{"format":"{}","version":{},"model":{},"system":{})", kTraceFormat, sides ? 1 : 2,
                                quoted(trace.model), quoted(trace.system));
  if (sides)
    write_sides(out, trace);
  else
    write_axes(out, trace);
  if (const Tensor weights = trace.alignment.contiguous(); writable(weights)) {
    write_name(out, "alignment");
    write_weights(out, weights.data(), weights.shape(), format);
    if (trace.unlinked_at_end) out += R"(,"unlinked_at_end":true)";
    write_times(out, trace);
  }
  const auto write_row = [&out](const char* name, const std::vector<double>& numbers) {
    if (numbers.empty() || !all_finite(numbers)) return;
    write_name(out, name);
    write_numbers(out, std::span<const double>(numbers));
  };
  write_row("log_probabilities", trace.log_probabilities);
  write_row("generation_probabilities", trace.generation_probabilities);
  write_row("copied", trace.copied);
  write_choices(out, trace.choices);
  std::vector<const TraceAttention*> attentions;
  for (const TraceAttention& each : trace.attentions)
    if (writable(each.weights.contiguous())) attentions.push_back(&each);
  if (!attentions.empty()) {
    write_name(out, "attentions");
    write_list(out, static_cast<Index>(attentions.size()), [&](std::string& to, Index i) {
      write_attention(to, *attentions[static_cast<std::size_t>(i)], format);
    });
  }
  if (!trace.beam.empty()) {
    write_name(out, "beam");
    write_list(out, static_cast<Index>(trace.beam.size()), [&](std::string& to, Index t) {
      const auto& step = trace.beam[static_cast<std::size_t>(t)];
      write_list(to, static_cast<Index>(step.size()),
                 [&](std::string& into, Index i) { write_hypothesis(into, step[static_cast<std::size_t>(i)]); });
    });
  }
  if (!trace.trust.empty()) {
    write_name(out, "trust");
    write_trust(out, trace.trust.front());
  }
  return out + '}';
}

}  // namespace heed
