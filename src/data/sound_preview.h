#pragma once

#include <string>

#include "heed/data/sample.h"

namespace heed {

// A small picture of a decoded sound as a data: URL of a PNG, for traces: its log-mel spectrogram, time from left to
// right, low sounds at the bottom, loud ones light; of ready-made features the features themselves. As many columns as
// frames, at most 800. Empty for a sound that is shorter than a frame.
std::string sound_preview(const Value& sound);

}  // namespace heed
