#pragma once

#include "heed/jobs/bundle.h"

namespace heed {

// The encoder that is fine-tuned as part of a new model, at "eye" among its parameters, begins with the weights that
// the sense of its input has learnt. What was given, in words; empty if nothing was.
std::string give_encoder(Bundle& bundle);

}  // namespace heed
