#include "heed/trace/trace.h"

#include <algorithm>
#include <array>
#include <utility>

#include "heed/base/error.h"
#include "heed/base/spelling.h"

namespace heed {
namespace {

// Whether the URL has one of the beginnings, and base64 behind it.
bool has_data(std::string_view url, std::span<const std::string_view> beginnings) {
  static constexpr std::string_view kDigits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/=";
  return std::ranges::any_of(beginnings, [url](std::string_view beginning) {
    return url.starts_with(beginning) && url.find_first_not_of(kDigits, beginning.size()) == std::string_view::npos;
  });
}

void check_axes(const Trace& trace) { require(!trace.axes.empty(), "[trace] it has no axes"); }

}  // namespace

Index TraceAxis::size() const {
  return kind == Kind::image || kind == Kind::sound ? rows * columns : static_cast<Index>(text.tokens.size());
}

bool is_preview(std::string_view url) {
  static constexpr std::array<std::string_view, 4> kBeginnings = {"data:image/png;base64,", "data:image/jpeg;base64,",
                                                                  "data:image/webp;base64,", "data:image/gif;base64,"};
  return url.size() <= kLargestPreview && has_data(url, kBeginnings);
}

bool is_playable(std::string_view url) {
  static constexpr std::array<std::string_view, 1> kBeginnings = {"data:audio/wav;base64,"};
  return url.size() <= kLargestPlayable && has_data(url, kBeginnings);
}

std::vector<std::string> labels_of(const TraceAxis& axis) {
  std::vector<std::string> labels;
  for (Index i = 0; i < axis.size(); ++i) {
    if (axis.kind == Kind::image)
      labels.push_back(fmt::format("{},{}", i / axis.columns + 1, i % axis.columns + 1));
    else if (axis.kind == Kind::sound)
      labels.push_back(axis.frames.step > 0 ? fmt::format("{:.3g} s", axis.frames.begin(i))
                                            : fmt::format("frame {}", i + 1));
    else
      labels.push_back(axis.text.tokens[static_cast<std::size_t>(i)].text);
  }
  return labels;
}

const TraceAxis& Trace::axis(std::string_view name) const {
  std::vector<std::string> known;
  for (const TraceAxis& each : axes) {
    if (each.name == name) return each;
    known.push_back(each.name);
  }
  const std::string asked(name);
  fail("[trace] there is no axis {}{}", asked, did_you_mean(asked, known));
}

TraceAxis& Trace::axis(std::string_view name) {
  return axes[static_cast<std::size_t>(&std::as_const(*this).axis(name) - axes.data())];
}

const TraceAxis& Trace::output() const {
  check_axes(*this);
  return axes.back();
}

const TraceAxis& Trace::row_axis() const { return rows.empty() ? output() : axis(rows); }

const TraceAxis& Trace::column_axis() const {
  check_axes(*this);
  return columns.empty() ? axes.front() : axis(columns);
}

std::vector<std::string> row_labels(const Trace& trace) {
  std::vector<std::string> labels = labels_of(trace.row_axis());
  if (trace.rows != trace.output().name || trace.copied.size() != labels.size()) return labels;
  for (std::size_t i = 0; i < labels.size(); ++i)
    if (trace.copied[i] > 0.5) labels[i] += " <";
  return labels;
}

Trace pair_trace(TraceText source, TraceText target) {
  Trace trace;
  trace.axes = {{.name = "source", .text = std::move(source)}, {.name = "target", .text = std::move(target)}};
  trace.rows = "target", trace.columns = "source";
  return trace;
}

}  // namespace heed
