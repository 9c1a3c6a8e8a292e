#pragma once

#include <algorithm>

#include "heed/base/real.h"

namespace heed {

// When the frames of a sound are. A frame hears more of it than the step to the next one, most of all its middle (its
// ends are faded out), so it stands for the step around that:
//   frame k: margin + k·step to margin + (k + 1)·step,   margin = (what a frame hears - step) / 2
// Frames that somebody else made have a step alone.
struct FrameTimes {
  double step = 0;  // seconds from one frame to the next; 0: not known
  double margin = 0;

  double begin(Index frame) const { return margin + step * static_cast<double>(frame); }
  // Of a sound with so many frames, but for what is left behind the last one, which is less than a step.
  double seconds(Index frames) const { return frames > 0 ? std::max(0.0, begin(frames) + margin) : 0; }
};

}  // namespace heed
