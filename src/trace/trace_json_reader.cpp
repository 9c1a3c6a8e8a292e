#include <algorithm>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

#include "heed/base/error.h"
#include "heed/base/json-inl.h"
#include "heed/base/utf8.h"
#include "heed/store/safetensors_header.h"
#include "heed/trace/trace_json.h"

namespace heed {
namespace {

using Json = nlohmann::json;

constexpr double kLargest = 1e30;      // of numbers: all fit a float
constexpr Index kLongest = 1'000'000;  // of counts and places
constexpr std::size_t kMostAxes = 16;

// A value and where it stands, for messages.
class Field {
 public:
  Field(const Json& json, const std::string& file, std::string path = "")
      : json_(json), file_(file), path_(std::move(path)) {}

  // A field of an object; an Error if it is missing.
  Field operator[](const char* name) const {
    check_object();
    const auto field = json_.find(name);
    require(field != json_.end(), "{}: {} is missing", file_, inside(name));
    return {*field, file_, inside(name)};
  }
  bool has(const char* name) const {
    check_object();
    return json_.contains(name);
  }
  Field operator[](std::size_t i) const { return {json_[i], file_, fmt::format("{}[{}]", path_, i)}; }
  std::size_t size() const {
    require(json_.is_array(), "{}: {} must be a list", file_, shown());
    return json_.size();
  }
  // A list of exactly so many.
  void check_size(Index count, const std::string& of_what) const {
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
  std::vector<double> numbers(Index count, const std::string& of_what) const {
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

TraceText read_text(const Field& value) {
  TraceText result;
  result.text = value["text"].text();
  const auto length = static_cast<Index>(count_characters(result.text));
  const auto place = [length](const Field& from, auto& to) {
    to.text = from["text"].text();
    to.begin = from["begin"].whole(0, length);
    to.end = from["end"].whole(to.begin, length);
  };
  const Field words = value["words"], tokens = value["tokens"];
  for (std::size_t i = 0; i < words.size(); ++i) place(words[i], result.words.emplace_back());
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    TraceToken& token = result.tokens.emplace_back();
    place(tokens[i], token);
    token.word = tokens[i]["word"].whole(-1, static_cast<Index>(result.words.size()) - 1);
  }
  if (!value.has("sentence_ends")) return result;
  const Field ends = value["sentence_ends"];
  for (std::size_t i = 0; i < ends.size(); ++i) {
    const Index before = result.sentence_ends.empty() ? 0 : result.sentence_ends.back();
    result.sentence_ends.push_back(ends[i].whole(before + 1, static_cast<Index>(result.tokens.size())));
  }
  return result;
}

Kind read_kind(const Field& value) {
  const std::string name = value.text();
  for (const Kind kind : {Kind::text, Kind::document, Kind::image, Kind::sound, Kind::label, Kind::choice})
    if (name == name_of(kind)) return kind;
  value.wrong("must be text, document, image, sound or label, not {}", Quoted{name});
}

// A picture of an image or a sound; may be empty.
std::string read_preview(const Field& value) {
  if (!value.has("preview")) return "";
  std::string preview = value["preview"].text();
  if (!preview.empty() && (preview.size() > kLargestPreview || !is_preview(preview)))
    value["preview"].wrong("must be a data: URL of a PNG, JPEG, WebP or GIF of at most {} bytes", kLargestPreview);
  return preview;
}

// Amplitudes along a sound; may be empty.
std::vector<double> read_waveform(const Field& value) {
  if (!value.has("waveform")) return {};
  const Field list = value["waveform"];
  if (list.size() > kLongestWaveform) list.wrong("has {} numbers; {} are allowed", list.size(), kLongestWaveform);
  std::vector<double> waveform;
  for (std::size_t i = 0; i < list.size(); ++i) {
    waveform.push_back(list[i].number());
    if (!(waveform.back() >= 0 && waveform.back() <= 1)) list[i].wrong("is {}, not in 0..1", waveform.back());
  }
  return waveform;
}

TraceAxis read_axis(const Field& value) {
  TraceAxis axis;
  axis.name = value["name"].text();
  if (axis.name.empty()) value["name"].wrong("is empty");
  axis.kind = read_kind(value["kind"]);
  switch (axis.kind) {
    case Kind::image:
      axis.rows = value["rows"].whole(0, kLongest);
      axis.columns = value["columns"].whole(0, kLongest);
      if (axis.size() > kLongest) value.wrong("has {} regions; {} are allowed", axis.size(), kLongest);
      axis.preview = read_preview(value);
      break;
    case Kind::sound:
      axis.rows = value["rows"].whole(0, kLongest), axis.columns = 1;
      if (value.has("frame_seconds")) axis.frames.step = value["frame_seconds"].number();
      if (axis.frames.step < 0) value["frame_seconds"].wrong("is less than 0");
      if (value.has("frame_margin")) axis.frames.margin = value["frame_margin"].number();
      axis.preview = read_preview(value);
      axis.waveform = read_waveform(value);
      if (value.has("playable")) axis.playable = value["playable"].text();
      if (!axis.playable.empty() && !is_playable(axis.playable))
        value["playable"].wrong("must be a data: URL of a WAV file of at most {} bytes", kLargestPlayable);
      break;
    default: axis.text = read_text(value);
  }
  return axis;
}

std::vector<TraceAxis> read_axes(const Field& value) {
  if (value.size() == 0 || value.size() > kMostAxes)
    value.wrong("has {} items; a trace has 1 to {} axes", value.size(), kMostAxes);
  std::vector<TraceAxis> axes;
  for (std::size_t i = 0; i < value.size(); ++i) {
    TraceAxis axis = read_axis(value[i]);
    if (std::ranges::any_of(axes, [&](const TraceAxis& other) { return other.name == axis.name; }))
      value[i]["name"].wrong("is {}, as that of another axis is", Quoted{axis.name});
    axes.push_back(std::move(axis));
  }
  return axes;
}

// The name of an axis.
std::string read_axis_name(const Field& value, const Trace& trace) {
  std::string name = value.text();
  std::string known;
  for (std::size_t i = 0; i < trace.axes.size(); ++i) {
    if (trace.axes[i].name == name) return name;
    known += (i == 0 ? "" : i + 1 < trace.axes.size() ? ", " : " or ") + trace.axes[i].name;
  }
  value.wrong("must be {}, not {}", known, Quoted{name});
}

// "tokens of the target".
std::string places_of(const TraceAxis& axis, const std::string& whose) {
  const char* what = axis.kind == Kind::image ? "regions" : axis.kind == Kind::sound ? "frames" : "tokens";
  return fmt::format("{} of {}", what, whose);
}
std::string places_of(const TraceAxis& axis) { return places_of(axis, "the " + axis.name); }

// A matrix is checked to be as large as it should be before memory is taken for it: empty rows cost a file little.
void check_matrix(const Field& value, const TraceAxis& rows, const TraceAxis& columns) {
  value.check_size(rows.size(), places_of(rows, "its rows"));
  const std::string across = places_of(columns, "its columns");
  for (std::size_t i = 0; i < value.size(); ++i) value[i].check_size(columns.size(), across);
}
void read_matrix(const Field& value, Real* to, Index columns) {
  for (std::size_t i = 0; i < value.size(); ++i) value[i].row(to + static_cast<Index>(i) * columns);
}

TraceAttention read_attention(const Field& value, const Trace& trace) {
  TraceAttention result;
  result.name = value["name"].text();
  result.layer = value["layer"].whole(1, kLongest);
  result.rows = read_axis_name(value["rows"], trace);
  result.columns = read_axis_name(value["columns"], trace);
  const TraceAxis &row_axis = trace.axis(result.rows), &column_axis = trace.axis(result.columns);
  const Index rows = row_axis.size(), columns = column_axis.size();
  const Field weights = value["weights"];
  const auto heads = static_cast<Index>(weights.size());
  if (heads == 0) weights.wrong("is empty; there is at least one head");
  for (std::size_t head = 0; head < weights.size(); ++head) check_matrix(weights[head], row_axis, column_axis);
  result.weights = Tensor(Shape{heads, rows, columns});
  for (std::size_t head = 0; head < weights.size(); ++head)
    read_matrix(weights[head], result.weights.data() + static_cast<Index>(head) * rows * columns, columns);
  return result;
}

std::vector<std::vector<TraceHypothesis>> read_beam(const Field& value) {
  std::vector<std::vector<TraceHypothesis>> beam;
  const auto optional = [](const Field& from, const char* name) {
    return from.has(name) ? from[name].number() : -std::numeric_limits<double>::infinity();
  };
  for (std::size_t step = 0; step < value.size(); ++step) {
    const Field list = value[step];
    const Index before = step == 0 ? 1 : static_cast<Index>(beam.back().size());
    beam.emplace_back();
    for (std::size_t i = 0; i < list.size(); ++i) {
      const Field from = list[i];
      beam.back().push_back({from["token"].text(), from["from"].whole(0, before - 1), optional(from, "log_probability"),
                             optional(from, "score"), from["ended"].truth(), from["chosen"].truth()});
    }
  }
  return beam;
}

TraceTrust read_trust(const Field& value, const TraceAxis& rows) {
  TraceTrust trust;
  if (value.has("entropy")) trust.entropy = value["entropy"].numbers(rows.size(), places_of(rows));
  for (const auto& [name, number] : kTrustNumbers)
    if (value.has(name)) trust.*number = value[name].number();
  return trust;
}

// The axes of version 1 are the source and the target.
void read_sides(const Field& value, Trace& trace) {
  trace.axes = pair_trace(read_text(value["source"]), read_text(value["target"])).axes;
  trace.rows = "target", trace.columns = "source";
  if (value.has("job")) trace.job = value["job"].text();
}

void read_named_axes(const Field& value, Trace& trace) {
  trace.job = value["job"].text();
  trace.axes = read_axes(value["axes"]);
  for (const auto& [field, name] : {std::pair{"alignment_rows", &trace.rows}, {"alignment_columns", &trace.columns}})
    if (value.has(field) || value.has("alignment")) *name = read_axis_name(value[field], trace);
}

std::vector<TraceChoice> read_choices(const Field& value) {
  std::vector<TraceChoice> choices;
  for (std::size_t i = 0; i < value.size(); ++i) {
    choices.push_back({value[i]["label"].text(), value[i]["probability"].number()});
    if (const double p = choices.back().probability; !(p >= 0 && p <= 1))
      value[i]["probability"].wrong("is {}, not in 0..1", p);
  }
  return choices;
}

}  // namespace

Trace trace_from_json(std::string_view json, const std::string& name) {
  const Json all = parse_json(json, name);
  const Field value(all, name);
  require(all.is_object() && all.contains("format") && all["format"] == kTraceFormat,
          "{}: it is no trace: \"format\" is not \"{}\"", name, kTraceFormat);
  const Index version = value["version"].whole(1, kLongest);
  require(version <= kTraceVersion, "{}: its version is {}, and this program knows 1 to {}", name, version,
          kTraceVersion);
  Trace trace;
  trace.model = value["model"].text();
  trace.system = value["system"].text();
  if (version == 1)
    read_sides(value, trace);
  else
    read_named_axes(value, trace);
  const TraceAxis &rows = trace.row_axis(), &columns = trace.column_axis();
  if (value.has("alignment")) {
    const Field weights = value["alignment"];
    check_matrix(weights, rows, columns);
    if (rows.size() * columns.size() > 0) {
      trace.alignment = Tensor(Shape{rows.size(), columns.size()});
      read_matrix(weights, trace.alignment.data(), columns.size());
    }
  }
  trace.unlinked_at_end = value.has("unlinked_at_end") && value["unlinked_at_end"].truth();
  const auto read_row = [&](const char* member, std::vector<double>& numbers) {
    if (value.has(member)) numbers = value[member].numbers(trace.output().size(), places_of(trace.output()));
  };
  read_row("log_probabilities", trace.log_probabilities);
  read_row("generation_probabilities", trace.generation_probabilities);
  read_row("copied", trace.copied);
  if (version > 1 && value.has("choices")) trace.choices = read_choices(value["choices"]);
  if (value.has("attentions")) {
    const Field list = value["attentions"];
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
