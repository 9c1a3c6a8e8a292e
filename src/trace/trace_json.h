#pragma once

#include <string>
#include <string_view>

#include "heed/trace/trace.h"

// Traces as JSON; docs/trace.schema.json describes it. Version 1 is that of two texts, a "source" and a "target", with
// an alignment between them; version 2 has axes of any number and kind.

namespace heed {

inline constexpr const char* kTraceFormat = "heed-trace";
inline constexpr int kTraceVersion = 2;  // the newest

// How weights are written: with at most so many significant digits, and as 0 below the least.
struct WeightFormat {
  int digits = 5;
  double least = 0;
};
// Enough for pictures and percentages, at less than half the length where most weights are near 0.
inline constexpr WeightFormat kBriefWeights{3, 5e-6};
void write_weight(std::string& out, Real weight, const WeightFormat& format);

// Weights of a trace, of its alignment and all attentions. A trace with more is not written, and one with so many is
// read: written with 5 digits each they are shorter than kLongestTrace bytes.
inline constexpr Index kMostTraceWeights = Index{1} << 26;
inline constexpr std::size_t kLongestTrace = std::size_t{1} << 30;

// In the oldest version that holds the trace, on one line, numbers other than weights with at most 5 significant
// digits. What is empty or was not measured is left out, and so is a matrix or list with a number that is not finite.
// Bytes that are not UTF-8 are replaced. More than kMostTraceWeights are an Error, before anything is written.
std::string to_json(const Trace& trace, const WeightFormat& weights = {});
// The object that stands for a text in version 1.
std::string to_json(const TraceText& text);

// A trace out of JSON. What is broken, of another type or size than the rest needs, or nested without end, is an Error
// that leads with `name` and says where; whoever holds the trace may use it without further checks. Unknown fields are
// passed over.
Trace trace_from_json(std::string_view json, const std::string& name = "trace");

}  // namespace heed
