#include <algorithm>
#include <cmath>

#include "heed/base/base64.h"
#include "heed/base/error.h"
#include "heed/data/sample.h"
#include "heed/explain/svg.h"
#include "heed/explain/svg_parts.h"

namespace heed {
namespace {

constexpr double kPanel = 140, kLowest = 40, kHighest = 280;  // width of a panel, and its height at the limits
constexpr Index kPanelsAcross = 6;
constexpr double kWordHeight = 22, kNoteHeight = 20;
constexpr double kDarkest = 0.85;              // the picture shows through everywhere
constexpr const char* kNoPicture = "#E69F00";  // where there is no picture to show

// Height by width: the picture's own, whatever its grid. The grid's where there is no picture, or none that can be read
// (a trace may come from anywhere).
double aspect_of(const RegionsPicture& picture) {
  const double grid = static_cast<double>(picture.grid_rows) / static_cast<double>(picture.grid_columns);
  if (!is_preview(picture.preview)) return grid;
  const std::optional<std::string> bytes = from_base64(picture.preview.substr(picture.preview.find(',') + 1));
  if (!bytes) return grid;
  try {
    const Tensor pixels = decode_value(Kind::image, *bytes, "preview").numbers;
    return static_cast<double>(pixels.size(0)) / static_cast<double>(pixels.size(1));
  } catch (const Error&) {
    return grid;
  }
}

// The regions of one panel at (x, y), each the darker the less of the largest weight it has, so that what the word
// looked at stays as it is. Shades run into each other as in Xu et al. 2015's figures, which smooth by a Gaussian;
// those at the border reach beyond it, lest it fade.
std::string draw_regions(const RegionsPicture& picture, const std::string& word, const Real* weights, double x,
                         double y, double height) {
  const Index rows = picture.grid_rows, columns = picture.grid_columns;
  const auto largest = static_cast<double>(*std::max_element(weights, weights + rows * columns));
  const double across = kPanel / static_cast<double>(columns), down = height / static_cast<double>(rows);
  std::string svg = fmt::format("<svg x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\"><g filter=\"url(#smooth)\">\n", x, y,
                                kPanel, height);
  for (Index i = 0; i < rows * columns; ++i) {
    const Index row = i / columns, column = i % columns;
    const auto weight = static_cast<double>(weights[i]);
    const double share = largest > 0 ? std::clamp(weight / largest, 0.0, 1.0) : 0;
    const double left = column == 0 ? across : 0, right = column + 1 == columns ? across : 0;
    const double above = row == 0 ? down : 0, below = row + 1 == rows ? down : 0;
    svg += fmt::format(
        "<rect x=\"{:.2f}\" y=\"{:.2f}\" width=\"{:.2f}\" height=\"{:.2f}\" fill-opacity=\"{:.3f}\">"
        "<title>{}</title></rect>\n",
        across * static_cast<double>(column) - left, down * static_cast<double>(row) - above, across + left + right,
        down + above + below, kDarkest * (1 - share),
        svg_escaped(fmt::format("row {}, column {} → {}: {:.3f}", row + 1, column + 1, word, weight)));
  }
  return svg + "</g></svg>\n";
}

// A Gaussian as wide as half a region.
std::string smoothing(const RegionsPicture& picture, double height) {
  return fmt::format(
      "<defs><filter id=\"smooth\" x=\"0\" y=\"0\" width=\"1\" height=\"1\" color-interpolation-filters=\"sRGB\">"
      "<feGaussianBlur stdDeviation=\"{:.2f} {:.2f}\"/></filter></defs>\n",
      kPanel / static_cast<double>(picture.grid_columns) / 2, height / static_cast<double>(picture.grid_rows) / 2);
}

}  // namespace

std::string draw_regions_svg(const RegionsPicture& picture) {
  const auto n = static_cast<Index>(picture.rows.size());
  const Index regions = picture.grid_rows * picture.grid_columns;
  require(n > 0 && regions > 0, "[svg] there is nothing to draw: {} words and {} regions", n, regions);
  require((picture.weights.shape() == Shape{n, regions}), "[svg] weights {} do not fit {} words and {} × {} regions",
          picture.weights.shape(), n, picture.grid_rows, picture.grid_columns);
  const Tensor weights = picture.weights.contiguous();
  const double height = std::round(std::clamp(kPanel * aspect_of(picture), kLowest, kHighest));
  const Index across = std::min(n, kPanelsAcross), down = (n + across - 1) / across;
  const double step = kPanel + kSvgMargin, line = kWordHeight + height + kSvgMargin;
  const double top = kSvgMargin + (picture.title.empty() ? 0 : kSvgTitleHeight);
  const double bottom = top + line * static_cast<double>(down);
  const double width = std::max(
      {kSvgMargin + step * static_cast<double>(across), svg_title_width(picture.title), 2 * step + kSvgMargin});

  std::string svg = svg_opening(width, bottom + kNoteHeight + kSvgMargin,
                                picture.title.empty() ? "regions that each word looked at" : picture.title);
  svg += svg_title(picture.title);
  svg += smoothing(picture, height);
  if (is_preview(picture.preview))
    svg += fmt::format(
        "<defs><image id=\"preview\" width=\"{}\" height=\"{}\" preserveAspectRatio=\"none\" "
        "href=\"{}\"/></defs>\n",
        kPanel, height, picture.preview);
  for (Index i = 0; i < n; ++i) {
    const std::string& word = picture.rows[static_cast<std::size_t>(i)];
    const Index column = i % across, row = i / across;
    const double x = kSvgMargin + step * static_cast<double>(column), y = top + line * static_cast<double>(row);
    svg += svg_label(word, kPanel / kSvgFont, fmt::format("x=\"{}\" y=\"{}\"", x, y + 15));
    svg += is_preview(picture.preview)
               ? fmt::format("<use href=\"#preview\" x=\"{}\" y=\"{}\"/>\n", x, y + kWordHeight)
               : fmt::format("<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" fill=\"{}\"/>\n", x, y + kWordHeight,
                             kPanel, height, kNoPicture);
    svg += draw_regions(picture, word, weights.data() + i * regions, x, y + kWordHeight, height);
    svg += fmt::format("<path d=\"M{} {}h{}v{}h-{}z\" class=\"axis\"/>\n", x, y + kWordHeight, kPanel, height, kPanel);
  }
  svg += fmt::format("<text x=\"{}\" y=\"{}\">brightest: the region that the word looked at most</text>\n", kSvgMargin,
                     bottom + 12);
  return svg + "</svg>\n";
}

}  // namespace heed
