#include <algorithm>
#include <cmath>

#include "heed/base/error.h"
#include "heed/explain/sentence_weights.h"
#include "heed/explain/svg.h"
#include "heed/explain/svg_parts.h"

namespace heed {
namespace {

constexpr double kDocumentWidth = 640, kLine = 24, kBox = 20, kInside = 4, kBetween = 4;
constexpr double kHeading = 24, kParagraphGap = 10;
constexpr double kBar = 60, kBarRoom = 110, kSentenceGap = 6;  // of a document with sentences
constexpr double kLongestWord = (kDocumentWidth - 2 * kInside) / kSvgFont;

struct WordBox {
  double x = 0, y = 0, width = 0;
};

// Words [begin, end) of a text and the bar of their weight, if they are a sentence.
struct Paragraph {
  Index begin = 0, end = 0;
  std::vector<WordBox> boxes = {};  // from (0, 0): as many in a line as fit
  double height = 0;
};

Paragraph wrapped(const std::vector<std::string>& words, Index begin, Index end) {
  Paragraph paragraph{begin, end};
  double x = 0, y = 0;
  for (Index j = begin; j < end; ++j) {
    const double width =
        std::ceil(kSvgFont * std::min(text_width(words[static_cast<std::size_t>(j)]), kLongestWord)) + 2 * kInside;
    if (x > 0 && x + width > kDocumentWidth) x = 0, y += kLine;
    paragraph.boxes.push_back({x, y, width});
    x += width + kBetween;
  }
  paragraph.height = y + kLine;
  return paragraph;
}

std::string draw_word(const std::string& word, const std::string& weight, double share, const WordBox& box, double x,
                      double y) {
  return fmt::format(
      "<g><title>{}</title><rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" rx=\"3\" fill=\"{}\"/>\n{}</g>\n",
      svg_escaped(fmt::format("{}: {}", word, weight)), x, y, box.width, kBox, weight_colour(share),
      svg_label(word, kLongestWord,
                fmt::format("x=\"{}\" y=\"{}\" text-anchor=\"middle\" class=\"{}\"", x + box.width / 2, y + 14.5,
                            share > 0.5 ? "dark" : "light")));
}

// As long as the sentence's share of the weight, with the number beside it.
std::string draw_bar(double weight, double x, double y) {
  return fmt::format(
      "<g><title>sentence: {0:.3f}</title><rect x=\"{1}\" y=\"{2}\" width=\"{3}\" height=\"{4}\" class=\"track\"/>"
      "<rect x=\"{1}\" y=\"{2}\" width=\"{5:.1f}\" height=\"{4}\" class=\"bar\"/>"
      "<text x=\"{6}\" y=\"{7}\">{0:.2f}</text></g>\n",
      weight, x, y + 4, kBar, kBox - 8, kBar * std::clamp(weight, 0.0, 1.0), x + kBar + 6, y + 14.5);
}

}  // namespace

std::string draw_document_svg(const DocumentPicture& picture) {
  const auto n = static_cast<Index>(picture.rows.size()), m = static_cast<Index>(picture.words.size());
  require(n > 0 && m > 0, "[svg] there is nothing to draw: {} labels of {} words", n, m);
  require((picture.weights.shape() == Shape{n, m}), "[svg] weights {} do not fit {} labels and {} words",
          picture.weights.shape(), n, m);
  const Tensor weights = picture.weights.contiguous();
  const SentenceWeights shown = sentence_weights(weights, picture.sentence_ends);
  const double largest = largest_weight(shown.words);
  std::vector<Paragraph> paragraphs;
  for (const Index end : whole_sentences(picture.sentence_ends, m))
    paragraphs.push_back(wrapped(picture.words, paragraphs.empty() ? 0 : paragraphs.back().end, end));
  const bool sentences = !paragraphs.empty();
  if (!sentences) paragraphs.push_back(wrapped(picture.words, 0, m));

  const double left = kSvgMargin + (sentences ? kBarRoom : 0);
  double text = kHeading + kParagraphGap;  // the height of one row's text
  for (const Paragraph& paragraph : paragraphs) text += paragraph.height + (sentences ? kSentenceGap : 0);
  const double top = kSvgMargin + (picture.title.empty() ? 0 : kSvgTitleHeight);
  const double bottom = top + text * static_cast<double>(n);

  std::string svg = svg_opening(std::max(left + kDocumentWidth + kSvgMargin, svg_title_width(picture.title)),
                                bottom + kSvgScaleHeight, picture.title.empty() ? "words by weight" : picture.title,
                                ".dark{fill:#000}.light{fill:#fff}.bar{fill:#d1495b}.track{fill:#8884}");
  svg += svg_described(picture.rows, picture.words, weights) + svg_title(picture.title);
  for (Index i = 0; i < n; ++i) {
    double y = top + text * static_cast<double>(i);
    svg += svg_label(picture.rows[static_cast<std::size_t>(i)], kLongestWord * 0.8,
                     fmt::format("x=\"{}\" y=\"{}\" class=\"title\"", kSvgMargin, y + 14));
    y += kHeading;
    for (std::size_t p = 0; p < paragraphs.size(); ++p) {
      const Paragraph& paragraph = paragraphs[p];
      if (sentences)
        svg += draw_bar(static_cast<double>(shown.sentences.at({i, static_cast<Index>(p)})), kSvgMargin, y);
      for (Index j = paragraph.begin; j < paragraph.end; ++j) {
        const WordBox& box = paragraph.boxes[static_cast<std::size_t>(j - paragraph.begin)];
        svg += draw_word(picture.words[static_cast<std::size_t>(j)],
                         fmt::format("{:.3f}", static_cast<double>(weights.data()[i * m + j])),
                         static_cast<double>(shown.words.data()[i * m + j]) / largest, box, left + box.x, y + box.y);
      }
      y += paragraph.height + (sentences ? kSentenceGap : 0);
    }
  }
  return svg + svg_scale(kSvgMargin, bottom + kSvgMargin / 2, largest) + "</svg>\n";
}

}  // namespace heed
