#include "heed/explain/svg.h"

#include <algorithm>
#include <cmath>
#include <tuple>

#include "heed/base/error.h"
#include "heed/base/spelling.h"
#include "heed/explain/plot.h"
#include "heed/explain/svg_parts.h"
#include "heed/trace/merge.h"

namespace heed {
namespace {

constexpr double kCell = kMatrixCell, kMargin = kSvgMargin, kGap = kSvgGap;
constexpr double kLinesWidth = 220;
constexpr double kTimesWidth = 800, kLeastTime = 2, kTimesHeight = 36, kTick = 70;  // of columns with numbers below
constexpr Index kMostLines = 100;  // frames between which lines are drawn

std::size_t unsigned_of(Index i) { return static_cast<std::size_t>(i); }

void check_picture(const std::vector<std::string>& rows, const std::vector<std::string>& columns, const Shape& weights,
                   const Shape& expected) {
  require(!rows.empty() && !columns.empty(), "[svg] there is nothing to draw: {} rows and {} columns", rows.size(),
          columns.size());
  require(weights == expected, "[svg] weights {} do not fit {} rows and {} columns", weights, rows.size(),
          columns.size());
}

// Round numbers along the columns, below them.
std::string draw_line_ticks(const MatrixPicture& picture, double left, double bottom, double cell) {
  const double end = picture.first_column + picture.column_step * static_cast<double>(picture.columns.size());
  const double room = cell * static_cast<double>(picture.columns.size()) / kTick;
  std::string svg;
  for (const double tick : axis_ticks(0, end, static_cast<int>(std::clamp(room, 2.0, 6.0)))) {
    if (tick > end) break;
    const double x = left + (tick - picture.first_column) / picture.column_step * cell;
    svg += fmt::format(
        "<path d=\"M{0:.1f} {1}v5\" class=\"axis\"/><text x=\"{0:.1f}\" y=\"{2}\" "
        "text-anchor=\"middle\">{3:g}{4}{5}</text>\n",
        x, bottom, bottom + 19, tick, tick > 0 ? " " : "", tick > 0 ? svg_escaped(picture.column_unit) : "");
  }
  return svg;
}

// Amplitudes as one shape around a middle line; the largest of them fills the height.
std::string draw_waveform(const std::vector<double>& waveform, double left, double top, double width, double height) {
  const double loudest = std::max(1e-3, *std::ranges::max_element(waveform));
  const double middle = top + height / 2, step = width / static_cast<double>(waveform.size());
  std::string above, below;
  for (std::size_t i = 0; i < waveform.size(); ++i) {
    const double from = left + step * static_cast<double>(i), up = height / 2 * waveform[i] / loudest;
    above += fmt::format("L{:.1f} {:.1f}H{:.1f}", from, middle - up, from + step);
    below = fmt::format("L{:.1f} {:.1f}H{:.1f}", from + step, middle + up, from) + below;
  }
  return fmt::format("<path d=\"M{0:.1f} {1:.1f}{2}{3}z\" fill=\"{4}\"/>\n", left, middle, above, below,
                     kSeriesColours[0]);
}

// What stands above columns that are stretches of a line: its waveform, a picture of it, then its named stretches.
class LineHeader {
 public:
  explicit LineHeader(const MatrixPicture& picture)
      : picture_(picture),
        waved_(picture.column_step > 0 && !picture.waveform.empty()),
        shown_(picture.column_step > 0 && is_preview(picture.preview)) {}

  double height() const { return names_from() + (picture_.column_step > 0 ? kNamesHeight * rows() : 0); }
  std::string draw(double left, double top, double cell) const {
    const double width = cell * static_cast<double>(picture_.columns.size());
    std::string svg;
    if (waved_) svg += draw_waveform(picture_.waveform, left, top, width, kWaveformHeight - kSvgGap);
    if (shown_)
      svg += fmt::format(
          "<image x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" preserveAspectRatio=\"none\" href=\"{}\"/>\n", left,
          top + (waved_ ? kWaveformHeight : 0), width, kPreviewHeight, picture_.preview);
    for (std::size_t row = 0; row < picture_.stretches.size(); ++row)
      svg += draw_names(picture_.stretches[row], left, top + names_from() + kNamesHeight * static_cast<double>(row),
                        width);
    return svg;
  }

 private:
  static constexpr double kWaveformHeight = 54, kPreviewHeight = 96, kNamesHeight = 22;

  double rows() const { return static_cast<double>(picture_.stretches.size()); }
  // How far below the top of the header the names begin.
  double names_from() const { return (waved_ ? kWaveformHeight : 0) + (shown_ ? kPreviewHeight : 0); }
  std::string draw_names(const std::vector<MatrixPicture::Stretch>& stretches, double left, double top,
                         double width) const {
    const double length = picture_.column_step * static_cast<double>(picture_.columns.size());
    const auto x = [&](double at) {
      return left + std::clamp((at - picture_.first_column) / length, 0.0, 1.0) * width;
    };
    std::string svg;
    for (const MatrixPicture::Stretch& each : stretches) {
      const double from = x(each.begin), until = x(each.end);
      svg += fmt::format("<path d=\"M{0:.1f} {1}v{2}M{3:.1f} {1}v{2}\" class=\"axis\"/>", from, top, kNamesHeight - 2,
                         until);
      svg += svg_label(each.name, (until - from) / kSvgFont,
                       fmt::format("x=\"{:.1f}\" y=\"{}\" text-anchor=\"middle\"", (from + until) / 2, top + 15));
    }
    return svg;
  }

  const MatrixPicture& picture_;
  bool waved_, shown_;
};

// The names of the heads in their colours, in as many rows as the width asks for.
class HeadLegend {
 public:
  HeadLegend(Index heads, double width)
      : heads_(heads), a_row_(std::max<Index>(1, static_cast<Index>((width - 2 * kMargin) / kEntry))) {}

  double height() const {
    const Index rows = (heads_ + a_row_ - 1) / a_row_;
    return heads_ == 1 ? 0 : kSvgLegendRow * static_cast<double>(rows);
  }
  std::string draw(double top) const {
    std::string svg;
    for (Index head = 0; heads_ > 1 && head < heads_; ++head) {
      const double x = kMargin + kEntry * static_cast<double>(head % a_row_);
      const Index row = head / a_row_;
      const double y = top + kSvgLegendRow * (static_cast<double>(row) + 0.5);
      svg += fmt::format("<path d=\"M{} {}h20\" stroke-width=\"3\"{}/>\n", x, y, series_stroke(unsigned_of(head)));
      svg += fmt::format("<text x=\"{}\" y=\"{}\">head {}</text>\n", x + 25, y + 4, head + 1);
    }
    return svg;
  }

 private:
  static constexpr double kEntry = 86;
  Index heads_, a_row_;
};

// Beginning and end of the lines: two columns of words, the shorter one in the middle of the longer.
struct WordColumns {
  double left, right, top;
  double row_offset, column_offset;
  double row(Index i) const { return top + row_offset + (static_cast<double>(i) + 0.5) * kCell; }
  double column(Index j) const { return top + column_offset + (static_cast<double>(j) + 0.5) * kCell; }
};

std::string draw_lines(const LinesPicture& picture, const WordColumns& words) {
  const Tensor weights = picture.weights.contiguous();
  const Index heads = weights.size(0), n = weights.size(1), m = weights.size(2);
  std::vector<std::tuple<Real, Index, Index, Index>> lines;  // the heavier ones come later and lie on top
  for (Index head = 0; head < heads; ++head)
    for (Index i = 0; i < n; ++i)
      for (Index j = 0; j < m; ++j)
        if (const Real weight = weights.data()[(head * n + i) * m + j]; static_cast<double>(weight) >= picture.least)
          lines.emplace_back(weight, head, i, j);
  std::stable_sort(lines.begin(), lines.end(), [](const auto& a, const auto& b) { return get<0>(a) < get<0>(b); });
  const double apart = std::min(3.0, 14.0 / static_cast<double>(heads));  // between the heads' ends at a word
  const double thickest = heads == 1 ? 4 : 0.6 + apart;
  const double middle = (words.left + words.right) / 2;
  std::string svg = "<g fill=\"none\">\n";
  for (const auto& [weight, head, i, j] : lines) {
    const double shift = apart * (static_cast<double>(head) - static_cast<double>(heads - 1) / 2);
    const double from = words.column(j) + shift, end = words.row(i) + shift;
    const double w = std::min(static_cast<double>(weight), 1.0);
    const std::string name = heads == 1 ? "" : fmt::format("head {}: ", head + 1);
    svg += fmt::format(
        "<path d=\"M{} {:.1f}C{} {:.1f} {} {:.1f} {} {:.1f}\" stroke-width=\"{:.2f}\" stroke-opacity=\"{:.2f}\"{}>"
        "<title>{}</title></path>\n",
        words.left, from, middle, from, middle, end, words.right, end, 0.6 + (thickest - 0.6) * w, 0.15 + 0.85 * w,
        series_stroke(unsigned_of(head)),
        svg_escaped(fmt::format("{}{} → {}: {:.3f}", name, picture.columns[unsigned_of(j)],
                                picture.rows[unsigned_of(i)], weight)));
  }
  return svg + "</g>\n";
}

}  // namespace

std::string draw_matrix_svg(const MatrixPicture& picture) {
  const auto n = static_cast<Index>(picture.rows.size()), m = static_cast<Index>(picture.columns.size());
  check_picture(picture.rows, picture.columns, picture.weights.shape(), Shape{n, m});
  const Tensor weights = picture.weights.contiguous();
  const bool line = picture.column_step > 0;  // the columns are stretches of a line, with numbers below
  const SvgColumnLabels above(line ? std::vector<std::string>() : picture.columns, kCell);
  const auto across = static_cast<double>(m);
  const double cell = line ? std::clamp(std::floor(kTimesWidth / across), kLeastTime, kCell) : kCell;
  const double left = kMargin + svg_widest(picture.rows) + kGap;
  const LineHeader header(picture);
  const double first = kMargin + (picture.title.empty() ? 0 : kSvgTitleHeight);
  const double top = first + (line ? header.height() : above.height());
  const double bottom = top + kCell * static_cast<double>(n), right = left + cell * across;
  const double scale_top = bottom + (line ? kTimesHeight : 0) + kMargin;
  const double reach = line ? cell * across : above.reach();
  const double width =
      std::max({left + reach, left + kSvgScaleWidth, svg_title_width(picture.title) - kMargin, line ? 30 + right : 0});

  std::string svg = svg_opening(width + kMargin, scale_top + kSvgScaleHeight,
                                picture.title.empty() ? "attention weights" : picture.title);
  svg += svg_described(picture.rows, picture.columns, weights) + svg_title(picture.title) +
         (line ? header.draw(left, first, cell) : above.draw(left, top));
  for (Index i = 0; i < n; ++i)
    svg += svg_label(picture.rows[unsigned_of(i)], fmt::format("x=\"{}\" y=\"{}\" text-anchor=\"end\"", left - kGap,
                                                               top + kCell * (static_cast<double>(i) + 0.5) + 4.5));
  svg += "<g shape-rendering=\"crispEdges\">\n";
  for (Index i = 0; i < n; ++i)
    for (Index j = 0; j < m; ++j) {
      const Real weight = weights.data()[i * m + j];
      svg += fmt::format("<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" fill=\"{}\"><title>{}</title></rect>\n",
                         left + cell * static_cast<double>(j), top + kCell * static_cast<double>(i), cell, kCell,
                         weight_colour(static_cast<double>(weight) / picture.largest),
                         svg_escaped(fmt::format("{} → {}: {:.3f}", picture.columns[unsigned_of(j)],
                                                 picture.rows[unsigned_of(i)], weight)));
    }
  svg += fmt::format("</g>\n<path d=\"M{} {}H{}V{}H{}z\" class=\"axis\"/>\n", left, top, right, bottom, left);
  if (line) svg += draw_line_ticks(picture, left, bottom, cell);
  return svg + svg_scale(left, scale_top, picture.largest) + "</svg>\n";
}

std::string draw_lines_svg(const LinesPicture& picture) {
  const auto n = static_cast<Index>(picture.rows.size()), m = static_cast<Index>(picture.columns.size());
  const Index heads = picture.weights.rank() == 3 ? picture.weights.size(0) : 1;
  check_picture(picture.rows, picture.columns, picture.weights.shape(), Shape{heads, n, m});
  require(heads > 0, "[svg] there is nothing to draw: no heads");

  const double left = kMargin + svg_widest(picture.columns) + kGap, right = left + kLinesWidth;
  const double width =
      std::max(right + kGap + svg_widest(picture.rows), svg_title_width(picture.title) - kMargin) + kMargin;
  const HeadLegend legend(heads, width);
  const double below_title = kMargin + (picture.title.empty() ? 0 : kSvgTitleHeight);
  const Index longest = std::max(n, m);
  const auto centred = [longest](Index count) { return kCell * static_cast<double>(longest - count) / 2; };
  const WordColumns words{left, right, below_title + legend.height(), centred(n), centred(m)};
  const double bottom = words.top + kCell * static_cast<double>(longest);

  std::string svg = svg_opening(width, bottom + kSvgLegendRow + kMargin,
                                picture.title.empty() ? "attention between words" : picture.title);
  svg += svg_title(picture.title) + legend.draw(below_title);
  const auto label = [](const std::string& text, double x, double y, const char* anchor) {
    return svg_label(text, fmt::format("x=\"{}\" y=\"{}\" text-anchor=\"{}\"", x, y + 4.5, anchor));
  };
  for (Index j = 0; j < m; ++j) svg += label(picture.columns[unsigned_of(j)], left - kGap, words.column(j), "end");
  for (Index i = 0; i < n; ++i) svg += label(picture.rows[unsigned_of(i)], right + kGap, words.row(i), "start");
  svg += draw_lines(picture, words);
  if (picture.least > 0)
    svg += fmt::format("<text x=\"{}\" y=\"{}\" text-anchor=\"middle\">weights below {:g} are left out</text>\n",
                       (left + right) / 2, bottom + kSvgLegendRow - 4, picture.least);
  return svg + "</svg>\n";
}

std::string draw_alignment_svg(const Trace& trace, const std::string& title) {
  require(static_cast<bool>(trace.alignment), "[svg] the trace has no alignment to draw");
  return draw_matrix_svg({title, row_labels(trace), labels_of(trace.column_axis()), trace.alignment});
}

std::string draw_lines_svg(const Trace& all, const std::string& attention, const std::string& title) {
  const Trace trace = with_joined_frames(all, kMostLines);
  LinesPicture picture;
  picture.title = title;
  if (attention.empty()) {
    require(static_cast<bool>(trace.alignment), "[svg] the trace has no alignment to draw");
    picture.rows = row_labels(trace), picture.columns = labels_of(trace.column_axis());
    const Shape& shape = trace.alignment.shape();
    picture.weights = trace.alignment.reshape(Shape{1, shape[0], shape[1]});
    return draw_lines_svg(picture);
  }
  std::vector<std::string> known;
  for (const TraceAttention& each : trace.attentions) {
    if (each.name == attention) {
      picture.rows = labels_of(trace.axis(each.rows)), picture.columns = labels_of(trace.axis(each.columns));
      picture.weights = each.weights;
      return draw_lines_svg(picture);
    }
    known.push_back(each.name);
  }
  fail("[svg] the trace has no attention {}{}", attention, did_you_mean(attention, known));
}

}  // namespace heed
