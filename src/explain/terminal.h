#pragma once

#include <span>
#include <string>
#include <vector>

#include "heed/tensor/tensor.h"

namespace heed {

enum class TerminalColour { none, palette, true_colour };
// What standard output can show: NO_COLOR, TERM and COLORTERM, and whether it is a terminal at all.
TerminalColour terminal_colour();

// An alignment matrix as colour blocks: one line an output label, one cell an input label. weights [outputs, inputs],
// 0..1; darker is more. Without colour the cells are characters from ' ' to '@'. Labels are shown as given, one or
// more columns wide; the column labels are written downwards.
std::string draw_matrix(std::span<const std::string> outputs, std::span<const std::string> inputs,
                        const Tensor& weights, TerminalColour colour);

}  // namespace heed
