#pragma once

#include <string>
#include <vector>

#include "heed/trace/trace.h"

// Drawings of weights as whole SVG files: for a browser, a paper, or explain/png.h. They hold on light and on dark
// pages, run nothing and load nothing; whatever the texts are, they are shown as text.

namespace heed {

inline constexpr double kMatrixCell = 22;  // the side of a cell, in pixels

// The matrix of Bahdanau, Cho, Bengio 2015, figure 3: the source across the top, the target down the side, each cell as
// light as its weight, with a scale below. Every cell says its weight when it is pointed at; words that are too long
// for their place are shortened and say the whole of it.
struct MatrixPicture {
  std::string title;                       // may be empty
  std::vector<std::string> rows, columns;  // labels; at least one each
  Tensor weights;                          // [rows, columns], 0..largest
  double largest = 1;                      // the weight of the lightest colour
  // Where columns are stretches of a line, such as the frames of a sound, how long each is: they are narrow then, and
  // have round numbers in a unit below them instead of labels.
  double column_step = 0;
  std::string column_unit = {};
  double first_column = 0;  // where on the line they begin
  // Above such columns, as wide as they are: the amplitudes of equal stretches of the line, 0..1, a picture of it, such
  // as a sound's spectrogram (see is_preview), and rows of stretches with their names, such as words at their times.
  std::vector<double> waveform = {};
  std::string preview = {};
  struct Stretch {
    std::string name;
    double begin = 0, end = 0;  // in the unit
  };
  std::vector<std::vector<Stretch>> stretches = {};
};
std::string draw_matrix_svg(const MatrixPicture& picture);
// Of the trace's alignment, whatever its axes are. An Error if it has none.
std::string draw_alignment_svg(const Trace& trace, const std::string& title = "");

// A text that runs on and is wrapped, once for each row with the row's label above it, and each word on the colour of
// its weight: what a label was chosen by. A document with sentences has a line of its own for each, with a bar as long
// as the sentence's weight, and its words are coloured as sentence_weights has them.
struct DocumentPicture {
  std::string title;
  std::vector<std::string> rows, words;   // at least one each
  Tensor weights;                         // [rows, words]
  std::vector<Index> sentence_ends = {};  // the word behind each sentence's last
};
std::string draw_document_svg(const DocumentPicture& picture);

// A picture once for each row, with the row's word above it: the more orange a region, the more the word looked at it,
// compared with the other regions.
struct RegionsPicture {
  std::string title;
  std::vector<std::string> rows;
  Index grid_rows = 0, grid_columns = 0;
  std::string preview;  // see is_preview; a grey frame where there is none
  Tensor weights;       // [rows, grid_rows × grid_columns]
};
std::string draw_regions_svg(const RegionsPicture& picture);

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

// A trace's alignment in the way that suits its axes; an Error if it has none.
//   words that look at an image     the image once for each word, with the regions that it looked at
//   anything that looks at a sound  a matrix below waveform, spectrogram and what was said when; the time below it
//   a label that looks at a text    the text, each word on the colour of its weight
//   anything else                   a matrix
std::string draw_svg(const Trace& trace, const std::string& title = "");

// How large that picture, or the one of lines, is at least, in pixels: known before it is drawn, for check_png_size
// (explain/png.h).
struct PictureSize {
  double width = 0, height = 0;
};
PictureSize least_size(const Trace& trace, bool lines = false);

}  // namespace heed
