#include "heed/explain/confusion_svg.h"

#include <algorithm>
#include <cmath>

#include "heed/base/error.h"
#include "heed/explain/svg_parts.h"

namespace heed {
namespace {

constexpr std::size_t kMostLabels = 200;
constexpr double kLeastCell = 22, kMostCell = 48, kCellsWidth = 400;  // a few labels get larger cells
constexpr double kCountFont = 12, kAxisName = 20;
constexpr double kLongestLabel = 24;  // in units of the font: labels often begin alike
// Where black letters have the contrast to weight_colour that white ones have: 4.6.
constexpr double kBlackLetters = 0.484;

// One label's row of counts.
struct Row {
  const std::string& label;
  std::span<const Index> counts;
  Index support;

  double share(std::size_t column) const {
    return support == 0 ? 0 : static_cast<double>(counts[column]) / static_cast<double>(support);
  }
};

std::vector<Row> rows_of(const LabelPairs& pairs, const std::vector<Index>& confusion) {
  const std::vector<LabelCounts> counts = label_counts(pairs);
  std::vector<Row> rows;
  for (std::size_t i = 0; i < counts.size(); ++i)
    rows.push_back(
        {pairs.labels[i], std::span(confusion).subspan(i * counts.size(), counts.size()), counts[i].support});
  return rows;
}

// For those who listen: how often each label is right, and what it is taken for most.
std::string described(const std::vector<Row>& rows) {
  std::string text;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const Row& row = rows[i];
    text += fmt::format("{}{}: {} of {} right", i > 0 ? "; " : "", row.label, row.counts[i], row.support);
    std::size_t other = i;
    for (std::size_t j = 0; j < rows.size(); ++j)
      if (j != i && row.counts[j] > (other == i ? 0 : row.counts[other])) other = j;
    if (other != i) text += fmt::format(", {} taken for {}", row.counts[other], rows[other].label);
  }
  return fmt::format("<desc>{}</desc>\n", svg_escaped(text));
}

}  // namespace

std::string draw_confusion_svg(const LabelPairs& pairs, const std::string& title) {
  const std::size_t labels = pairs.labels.size();
  require(labels > 0 && labels <= kMostLabels, "[confusion] there are {} labels; from 1 to {} can be drawn", labels,
          kMostLabels);
  const std::vector<Index> confusion = confusion_of(pairs);
  const std::vector<Row> rows = rows_of(pairs, confusion);
  const auto across = static_cast<double>(labels);
  const double high = std::clamp(std::floor(kCellsWidth / across), kLeastCell, kMostCell);
  const double wide =
      std::max(high, std::ceil(kCountFont * text_width(fmt::to_string(*std::ranges::max_element(confusion))) + 6));
  const SvgColumnLabels above(pairs.labels, wide, kLongestLabel);
  const double left = kSvgMargin + kAxisName + svg_widest(pairs.labels, kLongestLabel) + kSvgGap;
  const double names = kSvgMargin + (title.empty() ? 0 : kSvgTitleHeight) + kAxisName;
  const double top = names + above.height();
  const double right = left + wide * across, bottom = top + high * across;
  const double width =
      std::max({left + above.reach(), left + kSvgScaleWidth + 60, svg_title_width(title) - kSvgMargin});

  std::string svg = svg_opening(
      width + kSvgMargin, bottom + kSvgMargin + kSvgScaleHeight, title.empty() ? "confusion of labels" : title,
      fmt::format(".count text{{font-size:{}px;text-anchor:middle}}.cells{{stroke:#fff;stroke-opacity:.1}}",
                  kCountFont));
  svg += described(rows) + svg_title(title) + above.draw(left, top);
  svg += fmt::format("<text x=\"{}\" y=\"{}\" text-anchor=\"middle\">predicted</text>\n", (left + right) / 2,
                     names - kSvgGap);
  svg += fmt::format("<text transform=\"translate({} {}) rotate(-90)\" text-anchor=\"middle\">true</text>\n",
                     kSvgMargin + kSvgFont, (top + bottom) / 2);
  std::string cells = "<g class=\"cells\" shape-rendering=\"crispEdges\">\n",
              counts = "<g class=\"count\" pointer-events=\"none\">\n";
  for (std::size_t i = 0; i < labels; ++i) {
    const Row& row = rows[i];
    const double y = top + high * static_cast<double>(i), middle = y + high / 2 + 4.5;
    svg += svg_label(row.label, kLongestLabel,
                     fmt::format("x=\"{}\" y=\"{}\" text-anchor=\"end\"", left - kSvgGap, middle));
    for (std::size_t j = 0; j < labels; ++j) {
      const double x = left + wide * static_cast<double>(j), share = row.share(j);
      cells += fmt::format("<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" fill=\"{}\"><title>{}</title></rect>\n",
                           x, y, wide, high, weight_colour(share),
                           svg_escaped(fmt::format("true {}, predicted {}: {} of {} ({:.1f} %)", row.label,
                                                   rows[j].label, row.counts[j], row.support, 100 * share)));
      if (row.counts[j] > 0)
        counts += fmt::format("<text x=\"{}\" y=\"{}\" style=\"fill:{}\">{}</text>\n", x + wide / 2, middle,
                              share > kBlackLetters ? "#000" : "#fff", row.counts[j]);
    }
  }
  svg += cells + "</g>\n" + counts + "</g>\n";
  svg += fmt::format("<path d=\"M{} {}H{}V{}H{}z\" class=\"axis\"/>\n", left, top, right, bottom, left);
  return svg + svg_scale(left, bottom + kSvgMargin, 1, "share of the row") + "</svg>\n";
}

}  // namespace heed
