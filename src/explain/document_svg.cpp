#include <algorithm>
#include <cmath>

#include "heed/base/error.h"
#include "heed/explain/svg.h"
#include "heed/explain/svg_parts.h"

namespace heed {
namespace {

constexpr double kDocumentWidth = 640, kLine = 24, kBox = 20, kInside = 4, kBetween = 4;
constexpr double kHeading = 24, kParagraphGap = 10;
constexpr double kLongestWord = (kDocumentWidth - 2 * kInside) / kSvgFont;

struct WordBox {
  double x = 0, y = 0, width = 0;
};

// Where the words stand, from (0, 0): as many in a line as fit.
std::vector<WordBox> wrapped(const std::vector<std::string>& words) {
  std::vector<WordBox> boxes;
  double x = 0, y = 0;
  for (const std::string& word : words) {
    const double width = std::ceil(kSvgFont * std::min(text_width(word), kLongestWord)) + 2 * kInside;
    if (x > 0 && x + width > kDocumentWidth) x = 0, y += kLine;
    boxes.push_back({x, y, width});
    x += width + kBetween;
  }
  return boxes;
}

}  // namespace

std::string draw_document_svg(const MatrixPicture& picture) {
  const auto n = static_cast<Index>(picture.rows.size()), m = static_cast<Index>(picture.columns.size());
  require(n > 0 && m > 0, "[svg] there is nothing to draw: {} labels of {} words", n, m);
  require((picture.weights.shape() == Shape{n, m}), "[svg] weights {} do not fit {} labels and {} words",
          picture.weights.shape(), n, m);
  const Tensor weights = picture.weights.contiguous();
  const std::vector<WordBox> boxes = wrapped(picture.columns);
  const double paragraph = kHeading + boxes.back().y + kLine + kParagraphGap;
  const double top = kSvgMargin + (picture.title.empty() ? 0 : kSvgTitleHeight);
  const double bottom = top + paragraph * static_cast<double>(n);

  std::string svg =
      svg_opening(std::max(kDocumentWidth + 2 * kSvgMargin, svg_title_width(picture.title)), bottom + kSvgScaleHeight,
                  picture.title.empty() ? "words by weight" : picture.title, ".dark{fill:#000}.light{fill:#fff}");
  svg += svg_described(picture.rows, picture.columns, weights) + svg_title(picture.title);
  for (Index i = 0; i < n; ++i) {
    const double above = top + paragraph * static_cast<double>(i);
    svg += svg_label(picture.rows[static_cast<std::size_t>(i)], kLongestWord * 0.8,
                     fmt::format("x=\"{}\" y=\"{}\" class=\"title\"", kSvgMargin, above + 14));
    for (Index j = 0; j < m; ++j) {
      const WordBox& box = boxes[static_cast<std::size_t>(j)];
      const std::string& word = picture.columns[static_cast<std::size_t>(j)];
      const auto weight = static_cast<double>(weights.data()[i * m + j]);
      const double x = kSvgMargin + box.x, y = above + kHeading + box.y, share = weight / picture.largest;
      svg += fmt::format(
          "<g><title>{}</title><rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" rx=\"3\" fill=\"{}\"/>\n",
          svg_escaped(fmt::format("{}: {:.3f}", word, weight)), x, y, box.width, kBox, weight_colour(share));
      svg += svg_label(word, kLongestWord,
                       fmt::format("x=\"{}\" y=\"{}\" text-anchor=\"middle\" class=\"{}\"", x + box.width / 2, y + 14.5,
                                   share > 0.5 ? "dark" : "light"));
      svg += "</g>\n";
    }
  }
  return svg + svg_scale(kSvgMargin, bottom + kSvgMargin / 2, picture.largest) + "</svg>\n";
}

}  // namespace heed
