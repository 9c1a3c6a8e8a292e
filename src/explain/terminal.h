#pragma once

#include <span>
#include <string>
#include <vector>

#include "heed/tensor/tensor.h"

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

}  // namespace heed
