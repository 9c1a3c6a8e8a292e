#include "heed/trace/trace_json.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

#include "heed/base/error.h"
#include "heed/base/utf8.h"
#include "heed/store/safetensors_header.h"

namespace heed {
namespace {

using Json = nlohmann::json;

constexpr const char* kFormat = "heed-trace";
constexpr int kVersion = 1;

// Writing ------------------------------------------------------------------------------------------------------------

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
void write_weights(std::string& out, const Real* data, const Shape& shape, int axis = 0) {
  const Index count = shape[axis];
  if (axis == shape.rank() - 1) return write_numbers(out, std::span<const Real>(data, static_cast<std::size_t>(count)));
  Index stride = 1;
  for (int i = axis + 1; i < shape.rank(); ++i) stride *= shape[i];
  write_list(out, count, [&](std::string& to, Index i) { write_weights(to, data + i * stride, shape, axis + 1); });
}

// ,"name": if there is something to write.
void write_name(std::string& out, const char* name) { fmt::format_to(std::back_inserter(out), ",\"{}\":", name); }

bool writable(const Tensor& weights) { return weights && weights.size() > 0 && all_finite(weights.values()); }

void write_optional(std::string& out, const char* name, double number) {
  if (!std::isfinite(number)) return;
  write_name(out, name);
  write_number(out, number);
}

void write_text(std::string& out, const TraceText& text) {
  out += "{\"text\":" + quoted(text.text) + ",\"tokens\":";
  write_list(out, static_cast<Index>(text.tokens.size()), [&](std::string& to, Index i) {
    const TraceToken& token = text.tokens[static_cast<std::size_t>(i)];
    to += fmt::format(R"({{"text":{},"begin":{},"end":{},"word":{}}})", quoted(token.text), token.begin, token.end,
                      token.word);
  });
  out += ",\"words\":";
  write_list(out, static_cast<Index>(text.words.size()), [&](std::string& to, Index i) {
    const TraceWord& word = text.words[static_cast<std::size_t>(i)];
    to += fmt::format(R"({{"text":{},"begin":{},"end":{}}})", quoted(word.text), word.begin, word.end);
  });
  out += '}';
}

void write_attention(std::string& out, const TraceAttention& attention) {
  const auto side = [](TraceSide which) { return which == TraceSide::source ? "source" : "target"; };
  out += fmt::format(R"({{"name":{},"layer":{},"rows":"{}","columns":"{}","weights":)", quoted(attention.name),
                     attention.layer, side(attention.rows), side(attention.columns));
  const Tensor weights = attention.weights.contiguous();
  write_weights(out, weights.data(), weights.shape());
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
  write_optional(fields, "gradient_agreement", trust.gradient_agreement);
  write_optional(fields, "leave_one_out_agreement", trust.leave_one_out_agreement);
  write_optional(fields, "comprehensiveness", trust.comprehensiveness);
  write_optional(fields, "sufficiency", trust.sufficiency);
  write_optional(fields, "alignment_error", trust.alignment_error);
  out += '{' + (fields.empty() ? fields : fields.substr(1)) + '}';
}

// Reading ------------------------------------------------------------------------------------------------------------

constexpr int kDeepest = 16;           // nesting; a trace needs 5
constexpr double kLargest = 1e30;      // of numbers: all fit a float
constexpr Index kLongest = 1'000'000;  // of counts and places

// A value and where it stands, for messages.
class Value {
 public:
  Value(const Json& json, const std::string& file, std::string path = "")
      : json_(json), file_(file), path_(std::move(path)) {}

  // A field of an object; an Error if it is missing.
  Value operator[](const char* name) const {
    check_object();
    const auto field = json_.find(name);
    require(field != json_.end(), "{}: {} is missing", file_, inside(name));
    return {*field, file_, inside(name)};
  }
  bool has(const char* name) const {
    check_object();
    return json_.contains(name);
  }
  Value operator[](std::size_t i) const { return {json_[i], file_, fmt::format("{}[{}]", path_, i)}; }
  std::size_t size() const {
    require(json_.is_array(), "{}: {} must be a list", file_, shown());
    return json_.size();
  }
  // A list of exactly so many.
  void check_size(Index count, const char* of_what) const {
    require(static_cast<Index>(size()) == count, "{}: {} has {} items, but there are {} {}", file_, shown(), size(),
            count, of_what);
  }
  std::string text() const {
    require(json_.is_string(), "{}: {} must be text", file_, shown());
    return json_.get<std::string>();
  }
  bool truth() const {
    require(json_.is_boolean(), "{}: {} must be true or false", file_, shown());
    return json_.get<bool>();
  }
  double number() const {
    require(json_.is_number(), "{}: {} must be a number", file_, shown());
    const double x = json_.get<double>();
    require(std::abs(x) <= kLargest, "{}: {} is too large", file_, shown());
    return x;
  }
  Index whole(Index least, Index most) const {
    require(json_.is_number_integer(), "{}: {} must be a whole number", file_, shown());
    const bool huge = json_.is_number_unsigned() && json_.get<std::uint64_t>() > static_cast<std::uint64_t>(kLongest);
    const Index x = huge ? kLongest + 1 : json_.get<Index>();
    require(x >= least && x <= most, "{}: {} is {}, not in {}..{}", file_, shown(), json_.dump(), least, most);
    return x;
  }
  std::vector<double> numbers(Index count, const char* of_what) const {
    check_size(count, of_what);
    std::vector<double> list;
    for (std::size_t i = 0; i < size(); ++i) list.push_back((*this)[i].number());
    return list;
  }
  // A row of a matrix; paths are made up only for messages.
  void row(Real* to) const {
    for (std::size_t i = 0; i < json_.size(); ++i) {
      const Json& item = json_[i];
      if (!item.is_number() || !(std::abs(item.get<double>()) <= kLargest)) (void)(*this)[i].number();
      to[i] = static_cast<Real>(item.get<double>());
    }
  }
  template <class... Args>
  [[noreturn]] void wrong(fmt::format_string<Args...> text, Args&&... args) const {
    fail("{}: {} {}", file_, shown(), fmt::format(text, std::forward<Args>(args)...));
  }

 private:
  void check_object() const { require(json_.is_object(), "{}: {} must be an object", file_, shown()); }
  std::string inside(const char* name) const { return path_.empty() ? name : path_ + "." + name; }
  std::string shown() const { return path_.empty() ? "it" : path_; }

  const Json& json_;
  const std::string& file_;
  std::string path_;
};

TraceText read_text(const Value& value) {
  TraceText result;
  result.text = value["text"].text();
  const auto length = static_cast<Index>(count_characters(result.text));
  const auto place = [length](const Value& from, auto& to) {
    to.text = from["text"].text();
    to.begin = from["begin"].whole(0, length);
    to.end = from["end"].whole(to.begin, length);
  };
  const Value words = value["words"], tokens = value["tokens"];
  for (std::size_t i = 0; i < words.size(); ++i) place(words[i], result.words.emplace_back());
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    TraceToken& token = result.tokens.emplace_back();
    place(tokens[i], token);
    token.word = tokens[i]["word"].whole(-1, static_cast<Index>(result.words.size()) - 1);
  }
  return result;
}

// A matrix is checked to be as large as it should be before memory is taken for it: empty rows cost a file little.
void check_matrix(const Value& value, Index rows, Index columns) {
  value.check_size(rows, "tokens of its rows");
  for (std::size_t i = 0; i < value.size(); ++i) value[i].check_size(columns, "tokens of its columns");
}
void read_matrix(const Value& value, Real* to, Index columns) {
  for (std::size_t i = 0; i < value.size(); ++i) value[i].row(to + static_cast<Index>(i) * columns);
}

TraceSide read_side(const Value& value) {
  const std::string side = value.text();
  if (side == "source") return TraceSide::source;
  if (side != "target") value.wrong("must be source or target, not {}", Quoted{side});
  return TraceSide::target;
}

TraceAttention read_attention(const Value& value, const Trace& trace) {
  TraceAttention result;
  result.name = value["name"].text();
  result.layer = value["layer"].whole(1, kLongest);
  result.rows = read_side(value["rows"]);
  result.columns = read_side(value["columns"]);
  const auto count = [&trace](TraceSide side) {
    return static_cast<Index>((side == TraceSide::source ? trace.source : trace.target).tokens.size());
  };
  const Index rows = count(result.rows), columns = count(result.columns);
  const Value weights = value["weights"];
  const auto heads = static_cast<Index>(weights.size());
  if (heads == 0) weights.wrong("is empty; there is at least one head");
  for (std::size_t head = 0; head < weights.size(); ++head) check_matrix(weights[head], rows, columns);
  result.weights = Tensor(Shape{heads, rows, columns});
  for (std::size_t head = 0; head < weights.size(); ++head)
    read_matrix(weights[head], result.weights.data() + static_cast<Index>(head) * rows * columns, columns);
  return result;
}

std::vector<std::vector<TraceHypothesis>> read_beam(const Value& value) {
  std::vector<std::vector<TraceHypothesis>> beam;
  const auto optional = [](const Value& from, const char* name) {
    return from.has(name) ? from[name].number() : -std::numeric_limits<double>::infinity();
  };
  for (std::size_t step = 0; step < value.size(); ++step) {
    const Value list = value[step];
    const Index before = step == 0 ? 1 : static_cast<Index>(beam.back().size());
    beam.emplace_back();
    for (std::size_t i = 0; i < list.size(); ++i) {
      const Value from = list[i];
      beam.back().push_back({from["token"].text(), from["from"].whole(0, before - 1), optional(from, "log_probability"),
                             optional(from, "score"), from["ended"].truth(), from["chosen"].truth()});
    }
  }
  return beam;
}

TraceTrust read_trust(const Value& value, Index tokens) {
  const auto optional = [&value](const char* name) {
    return value.has(name) ? value[name].number() : std::numeric_limits<double>::quiet_NaN();
  };
  TraceTrust trust;
  if (value.has("entropy")) trust.entropy = value["entropy"].numbers(tokens, "tokens of the target");
  trust.gradient_agreement = optional("gradient_agreement");
  trust.leave_one_out_agreement = optional("leave_one_out_agreement");
  trust.comprehensiveness = optional("comprehensiveness");
  trust.sufficiency = optional("sufficiency");
  trust.alignment_error = optional("alignment_error");
  return trust;
}

Json parsed(std::string_view text, const std::string& file) {
  const auto not_too_deep = [&file](int depth, Json::parse_event_t, const Json&) {
    require(depth <= kDeepest, "{}: it is nested too deeply to be a trace", file);
    return true;
  };
  try {
    return Json::parse(text, not_too_deep);
  } catch (const Json::parse_error& error) {
    fail("{}: it is not valid JSON at byte {}", file, error.byte);
  } catch (const Json::exception&) {
    fail("{}: it has a number that is too large", file);
  }
}

}  // namespace

std::string to_json(const TraceText& text) {
  std::string out;
  write_text(out, text);
  return out;
}

std::string to_json(const Trace& trace) {
  std::string out = fmt::format(R"({{"format":"{}","version":{},"model":{},"system":{},"source":)", kFormat, kVersion,
                                quoted(trace.model), quoted(trace.system));
  write_text(out, trace.source);
  write_name(out, "target");
  write_text(out, trace.target);
  if (const Tensor weights = trace.alignment.contiguous(); writable(weights)) {
    write_name(out, "alignment");
    write_weights(out, weights.data(), weights.shape());
  }
  if (!trace.log_probabilities.empty() && all_finite(trace.log_probabilities)) {
    write_name(out, "log_probabilities");
    write_numbers(out, std::span<const double>(trace.log_probabilities));
  }
  std::vector<const TraceAttention*> attentions;
  for (const TraceAttention& each : trace.attentions)
    if (writable(each.weights.contiguous())) attentions.push_back(&each);
  if (!attentions.empty()) {
    write_name(out, "attentions");
    write_list(out, static_cast<Index>(attentions.size()),
               [&](std::string& to, Index i) { write_attention(to, *attentions[static_cast<std::size_t>(i)]); });
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

Trace trace_from_json(std::string_view json, const std::string& name) {
  const Json all = parsed(json, name);
  const Value value(all, name);
  require(all.is_object() && all.contains("format") && all["format"] == kFormat,
          "{}: it is no trace: \"format\" is not \"{}\"", name, kFormat);
  const Index version = value["version"].whole(1, kLongest);
  require(version == kVersion, "{}: its version is {}, and this program knows {}", name, version, kVersion);
  Trace trace;
  trace.model = value["model"].text();
  trace.system = value["system"].text();
  trace.source = read_text(value["source"]);
  trace.target = read_text(value["target"]);
  const Index rows = static_cast<Index>(trace.target.tokens.size()),
              columns = static_cast<Index>(trace.source.tokens.size());
  if (value.has("alignment")) {
    const Value weights = value["alignment"];
    check_matrix(weights, rows, columns);
    if (rows * columns > 0) {
      trace.alignment = Tensor(Shape{rows, columns});
      read_matrix(weights, trace.alignment.data(), columns);
    }
  }
  if (value.has("log_probabilities"))
    trace.log_probabilities = value["log_probabilities"].numbers(rows, "tokens of the target");
  if (value.has("attentions")) {
    const Value list = value["attentions"];
    for (std::size_t i = 0; i < list.size(); ++i) {
      TraceAttention attention = read_attention(list[i], trace);
      if (attention.weights.size() > 0) trace.attentions.push_back(std::move(attention));
    }
  }
  if (value.has("beam")) trace.beam = read_beam(value["beam"]);
  if (value.has("trust")) trace.trust.push_back(read_trust(value["trust"], rows));
  return trace;
}

}  // namespace heed
