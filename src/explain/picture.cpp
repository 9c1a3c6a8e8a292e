#include <algorithm>

#include "heed/base/error.h"
#include "heed/base/utf8.h"
#include "heed/explain/plot.h"
#include "heed/explain/svg.h"
#include "heed/explain/svg_parts.h"
#include "heed/explain/terminal.h"
#include "heed/trace/merge.h"
#include "heed/trace/unit_times.h"

namespace heed {
namespace {

constexpr Index kMostTimes = 400;        // columns of a sound in a drawing
constexpr Index kMostTimesWritten = 50;  // and in a terminal, each two characters wide

enum class Picture { matrix, regions, times, document };

Picture picture_of(const Trace& trace) {
  require(static_cast<bool>(trace.alignment), "[explain] the trace has no alignment to draw");
  const Kind rows = trace.row_axis().kind, columns = trace.column_axis().kind;
  if (columns == Kind::image && (is_text(rows) || is_chosen(rows))) return Picture::regions;
  if (columns == Kind::sound) return Picture::times;
  return is_chosen(rows) && is_text(columns) ? Picture::document : Picture::matrix;
}

// The labels of the rows, with their probabilities where these are known.
std::vector<std::string> rows_of(const Trace& trace) {
  std::vector<std::string> rows = row_labels(trace);
  if (!is_chosen(trace.row_axis().kind)) return rows;
  for (std::string& row : rows) {
    const auto choice = std::ranges::find(trace.choices, row, &TraceChoice::label);
    if (choice != trace.choices.end()) row += fmt::format(" {:.2f}", choice->probability);
  }
  return rows;
}

// When the frames are, and in what.
std::pair<FrameTimes, std::string> shown_times(const TraceAxis& sound) {
  return sound.frames.step > 0 ? std::pair{sound.frames, std::string("s")} : std::pair{FrameTimes{1}, std::string()};
}

// Of words that look at a sound whose times are known: the words, and below them what they are made of, if that is more
// than they.
std::vector<std::vector<MatrixPicture::Stretch>> at_their_times(const Trace& trace) {
  std::vector<std::vector<MatrixPicture::Stretch>> rows;
  const FrameTimes& frames = trace.column_axis().frames;
  if (frames.step <= 0 || trace.row_axis().text.tokens.size() != static_cast<std::size_t>(trace.alignment.size(0)))
    return rows;
  const Transcript said = unit_times(trace.row_axis().text, trace.alignment, frames, {}).transcript;
  const auto add = [&rows](const std::vector<TimedWord>& words) {
    std::vector<MatrixPicture::Stretch>& row = rows.emplace_back();
    for (const TimedWord& word : words) row.push_back({word.word, word.begin, word.end});
  };
  if (said.words.empty()) return rows;
  add(said.words);
  if (said.units.size() > said.words.size()) add(said.units);
  return rows;
}

// "0 s       1 s       2 s" below cells that are two characters wide.
std::string written_times(const TraceAxis& sound, std::size_t margin) {
  const auto [frames, unit] = shown_times(sound);
  const double end = frames.begin(sound.size());
  std::string line;
  for (const double tick : axis_ticks(0, end, 5)) {
    const auto at = margin + static_cast<std::size_t>(std::max(0.0, 2 * (tick - frames.margin) / frames.step));
    if (tick > end || at < line.size()) continue;
    line += std::string(at - line.size(), ' ') + fmt::format("{:g}{}{} ", tick, unit.empty() ? "" : " ", unit);
  }
  return line.substr(0, line.find_last_not_of(' ') + 1) + '\n';
}

std::string written_matrix_of_times(const Trace& trace, TerminalColour colour) {
  const Tensor weights = trace.alignment.contiguous();
  const double largest = largest_weight(weights);
  Tensor shares(weights.shape());
  std::transform(weights.data(), weights.data() + weights.size(), shares.data(),
                 [largest](Real weight) { return static_cast<Real>(static_cast<double>(weight) / largest); });
  const std::vector<std::string> rows = rows_of(trace), columns(static_cast<std::size_t>(weights.size(1)));
  Index margin = 0;
  for (const std::string& row : rows) margin = std::max(margin, display_width(row));
  return draw_matrix(rows, columns, shares, colour) +
         written_times(trace.column_axis(), static_cast<std::size_t>(margin) + 1);
}

}  // namespace

std::string draw_svg(const Trace& trace, const std::string& title) {
  const Picture picture = picture_of(trace);
  const TraceAxis& image = trace.column_axis();
  if (picture == Picture::regions)
    return draw_regions_svg({title, rows_of(trace), image.rows, image.columns, image.preview, trace.alignment});
  const Trace shown = with_joined_frames(trace, kMostTimes);
  MatrixPicture matrix{title, rows_of(shown), labels_of(shown.column_axis()), shown.alignment};
  if (picture == Picture::document)
    return draw_document_svg({title, std::move(matrix.rows), std::move(matrix.columns), shown.alignment,
                              shown.column_axis().text.sentence_ends});
  if (picture != Picture::matrix) matrix.largest = largest_weight(shown.alignment);
  if (picture == Picture::times) {
    const auto [frames, unit] = shown_times(shown.column_axis());
    matrix.column_step = frames.step, matrix.first_column = frames.margin, matrix.column_unit = unit;
    matrix.preview = image.preview, matrix.waveform = image.waveform;
    matrix.stretches = at_their_times(trace);
  }
  return draw_matrix_svg(matrix);
}

std::string draw_terminal(const Trace& trace, TerminalColour colour) {
  const TraceAxis& columns = trace.column_axis();
  switch (picture_of(trace)) {
    case Picture::regions: return draw_regions(rows_of(trace), columns.rows, columns.columns, trace.alignment, colour);
    case Picture::document:
      return draw_document(rows_of(trace), labels_of(columns), trace.alignment, colour, columns.text.sentence_ends);
    case Picture::times: return written_matrix_of_times(with_joined_frames(trace, kMostTimesWritten), colour);
    case Picture::matrix: break;
  }
  const Trace shown = with_joined_frames(trace, kMostTimesWritten);
  return draw_matrix(rows_of(shown), labels_of(shown.column_axis()), shown.alignment, colour);
}

PictureSize least_size(const Trace& trace, bool lines) {
  const double down = kMatrixCell * static_cast<double>(trace.row_axis().size());
  const double across = kMatrixCell * static_cast<double>(trace.column_axis().size());
  const bool joined = trace.column_axis().kind == Kind::sound;  // its frames are, where they are many
  if (lines) return {0, joined ? 0 : std::min(down, across)};   // whichever of the axes it is between
  switch (picture_of(trace)) {
    case Picture::matrix: return {across, down};
    case Picture::times: return {0, down};
    default: return {};
  }
}

}  // namespace heed
