#include "heed/explain/plot.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "heed/base/error.h"
#include "heed/explain/svg_parts.h"

namespace heed {
namespace {

constexpr double kPlotWidth = 720, kPlotHeight = 420;
constexpr double kLeft = 64, kTop = 44, kBottom = 56;

struct Range {
  double low = std::numeric_limits<double>::infinity(), high = -low;
  void include(double x) { low = std::min(low, x), high = std::max(high, x); }
};

// From numbers to places on the page.
struct Axis {
  std::vector<double> ticks;
  double from, to;  // places of the first and the last tick
  double place(double value) const {
    return from + (value - ticks.front()) / (ticks.back() - ticks.front()) * (to - from);
  }
};

bool finite(const std::pair<double, double>& point) {
  return std::isfinite(point.first) && std::isfinite(point.second);
}

// A circle, square, diamond or triangle around (x, y).
std::string mark(std::size_t kind, double x, double y, const char* colour) {
  switch (kind % 4) {
    case 0: return fmt::format("<circle cx=\"{:.2f}\" cy=\"{:.2f}\" r=\"3.6\" fill=\"{}\"/>", x, y, colour);
    case 1:
      return fmt::format("<rect x=\"{:.2f}\" y=\"{:.2f}\" width=\"6.4\" height=\"6.4\" fill=\"{}\"/>", x - 3.2, y - 3.2,
                         colour);
    case 2:
      return fmt::format("<path d=\"M{:.2f} {:.2f}l4.4 4.4l-4.4 4.4l-4.4 -4.4z\" fill=\"{}\"/>", x, y - 4.4, colour);
    default: return fmt::format("<path d=\"M{:.2f} {:.2f}l4.2 7.4h-8.4z\" fill=\"{}\"/>", x, y - 4.8, colour);
  }
}

std::string stroke(std::size_t number) {
  return "fill=\"none\" stroke-width=\"2\" stroke-linejoin=\"round\"" + series_stroke(number);
}

std::string draw_series(const LinePlot& plot, std::size_t number, const Axis& across, const Axis& up) {
  const LinePlot::Series& series = plot.series[number];
  std::string path, marks;
  bool down = false;
  for (const auto& point : series.points) {
    if (!finite(point)) {
      down = false;
      continue;
    }
    const double x = across.place(point.first), y = up.place(point.second);
    path += fmt::format("{}{:.2f} {:.2f}", down ? "L" : "M", x, y);
    if (plot.marks) marks += mark(number, x, y, kSeriesColours[number % kSeriesColours.size()]) + "\n";
    down = true;
  }
  if (path.empty()) return "";
  return fmt::format("<path d=\"{}\" {}/>\n{}", path, stroke(number), marks);
}

std::string draw_axes(const LinePlot& plot, const Axis& across, const Axis& up) {
  std::string svg;
  for (const double tick : up.ticks) {
    const double y = up.place(tick);
    svg += fmt::format("<line x1=\"{}\" y1=\"{:.2f}\" x2=\"{}\" y2=\"{:.2f}\" class=\"grid\"/>\n", across.from, y,
                       across.to, y);
    svg += fmt::format("<text x=\"{}\" y=\"{:.2f}\" text-anchor=\"end\">{:g}</text>\n", across.from - 8, y + 4, tick);
  }
  for (const double tick : across.ticks) {
    const double x = across.place(tick);
    svg += fmt::format("<line x1=\"{:.2f}\" y1=\"{}\" x2=\"{:.2f}\" y2=\"{}\" class=\"axis\"/>\n", x, up.from, x,
                       up.from + 5);
    svg += fmt::format("<text x=\"{:.2f}\" y=\"{}\" text-anchor=\"middle\">{:g}</text>\n", x, up.from + 20, tick);
  }
  svg += fmt::format("<path d=\"M{} {}V{}H{}\" class=\"axis\"/>\n", across.from, up.to, up.from, across.to);
  const double middle = (up.from + up.to) / 2;
  svg += fmt::format("<text x=\"{}\" y=\"{}\" text-anchor=\"middle\">{}</text>\n", (across.from + across.to) / 2,
                     up.from + 42, svg_escaped(plot.x_label));
  svg += fmt::format("<text x=\"18\" y=\"{0}\" text-anchor=\"middle\" transform=\"rotate(-90 18 {0})\">{1}</text>\n",
                     middle, svg_escaped(plot.y_label));
  return svg;
}

// Beside the plot, in the order of the series.
std::string draw_legend(const LinePlot& plot, double left) {
  std::string svg;
  for (std::size_t i = 0; i < plot.series.size(); ++i) {
    const double y = kTop + 8 + static_cast<double>(i) * kSvgLegendRow;
    svg += fmt::format("<path d=\"M{} {}h26\" {}/>\n", left, y, stroke(i));
    if (plot.marks) svg += mark(i, left + 13, y, kSeriesColours[i % kSeriesColours.size()]) + "\n";
    svg += fmt::format("<text x=\"{}\" y=\"{}\">{}</text>\n", left + 34, y + 4, svg_escaped(plot.series[i].name));
  }
  return svg;
}

}  // namespace

std::vector<double> axis_ticks(double low, double high, int most) {
  require(std::isfinite(low) && std::isfinite(high) && low <= high, "[axis] there is no axis from {} to {}", low, high);
  require(most >= 1, "[axis] an axis has at least 1 step, not {}", most);
  if (low == 0 && high == 0) {
    high = 1;  // what was counted or measured is not negative
  } else if (low == high) {
    const double around = std::abs(low) / 2;
    low -= around, high += around;
  }
  double power = std::pow(10, std::floor(std::log10((high - low) / most)));
  for (;; power *= 10)
    for (const double factor : {1.0, 2.0, 5.0}) {
      const double step = factor * power;
      const double first = std::floor(low / step + 1e-9), last = std::ceil(high / step - 1e-9);
      if (last - first > most) continue;
      std::vector<double> ticks;
      for (double i = first; i <= last; ++i) ticks.push_back(i * step);
      return ticks;
    }
}

std::string draw_svg(const LinePlot& plot) {
  Range x, y;
  std::size_t longest_name = 0;
  for (const LinePlot::Series& series : plot.series) {
    longest_name = std::max(longest_name, series.name.size());
    for (const auto& point : series.points)
      if (finite(point)) x.include(point.first), y.include(point.second);
  }
  require(x.low <= x.high, "[plot] '{}' has no point to draw", plot.title);
  if (plot.from_zero) y.include(0);

  const double legend = 50 + 7.5 * static_cast<double>(std::min<std::size_t>(longest_name, 32));
  const double height = std::max(kPlotHeight, kTop + kBottom + kSvgLegendRow * static_cast<double>(plot.series.size()));
  const Axis across{axis_ticks(x.low, x.high, 8), kLeft, kPlotWidth - legend - 16};
  const Axis up{axis_ticks(y.low, y.high), height - kBottom, kTop};
  std::string svg = svg_opening(kPlotWidth, height, plot.title, ".grid{stroke:#767676;stroke-opacity:.25}");
  svg += fmt::format("<text x=\"{}\" y=\"24\" class=\"title\">{}</text>\n", kLeft, svg_escaped(plot.title));
  svg += draw_axes(plot, across, up);
  for (std::size_t i = 0; i < plot.series.size(); ++i) svg += draw_series(plot, i, across, up);
  return svg + draw_legend(plot, kPlotWidth - legend) + "</svg>\n";
}

}  // namespace heed
