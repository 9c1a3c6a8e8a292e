#pragma once

#include <string>
#include <vector>

#include "heed/trace/trace.h"

// Drawings of weights as whole SVG files: for a browser, a paper, or explain/png.h. They hold on light and on dark
// pages, run nothing and load nothing; whatever the texts are, they are shown as text.

namespace heed {

// The matrix of Bahdanau, Cho, Bengio 2015, figure 3: the source across the top, the target down the side, each cell as
// light as its weight, with a scale below. Every cell says its weight when it is pointed at; words that are too long
// for their place are shortened and say the whole of it.
struct MatrixPicture {
  std::string title;                       // may be empty
  std::vector<std::string> rows, columns;  // labels; at least one each
  Tensor weights;                          // [rows, columns], 0..1
};
std::string draw_matrix_svg(const MatrixPicture& picture);
// Of the trace's alignment, between its tokens. An Error if it has none.
std::string draw_alignment_svg(const Trace& trace, const std::string& title = "");

// Lines from each row's word, on the right, to the words that it looked at, on the left: a colour a head, wider and
// denser for more weight.
struct LinesPicture {
  std::string title;
  std::vector<std::string> rows, columns;
  Tensor weights;       // [heads, rows, columns], 0..1
  double least = 0.05;  // lighter lines are left out, and the picture says so
};
std::string draw_lines_svg(const LinesPicture& picture);
// Of the attention with that name, or of the alignment where none is named. An Error, with the names there are, if the
// trace has no such.
std::string draw_lines_svg(const Trace& trace, const std::string& attention = "", const std::string& title = "");

}  // namespace heed
