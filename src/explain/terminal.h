#pragma once

#include <span>
#include <string>
#include <vector>

#include "heed/trace/trace.h"

namespace heed {

enum class TerminalColour { none, palette, true_colour };
// What standard output can show: NO_COLOR, TERM and COLORTERM, and whether it is a terminal at all.
TerminalColour terminal_colour();
// "true", "256", "none", or "auto": the above. An Error otherwise.
TerminalColour terminal_colour_named(const std::string& name);

// An alignment matrix as colour blocks: one line an output label, one cell an input label. weights [outputs, inputs],
// 0..1; lighter is more. Without colour the cells are characters from ' ' to '@'. Column labels are written downwards.
// Wide characters take the two columns that a terminal gives them, and nothing in a label can steer the terminal.
std::string draw_matrix(std::span<const std::string> outputs, std::span<const std::string> inputs,
                        const Tensor& weights, TerminalColour colour);

// A grid of regions as colour blocks, once for each output label with the label above it, several side by side where
// `width` columns of the terminal have room. weights [outputs, rows × columns]; the lightest region of each block is
// the one with the largest weight.
std::string draw_regions(std::span<const std::string> outputs, Index rows, Index columns, const Tensor& weights,
                         TerminalColour colour, Index width = 100);

// Words as a text wrapped at `width`, once for each output label with the label above it, each word on the colour of
// its weight; without colour the weights are characters below the words. weights [outputs, words]; the lightest word is
// the one with the largest weight. A document with sentences, of which `sentence_ends` has the word behind each one's
// last, has a line of its own for each, its weight and a bar before it, and words coloured as sentence_weights has
// them.
std::string draw_document(std::span<const std::string> outputs, std::span<const std::string> words,
                          const Tensor& weights, TerminalColour colour, const std::vector<Index>& sentence_ends = {},
                          Index width = 80);

// A trace's alignment in the way that suits its axes, as draw_svg (explain/svg.h) chooses. An Error if it has none.
std::string draw_terminal(const Trace& trace, TerminalColour colour);

}  // namespace heed
