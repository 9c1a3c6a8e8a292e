#pragma once

#include <set>
#include <string>

#include "heed/jobs/bundle.h"

namespace heed {

// The encoder that is fine-tuned as part of a new model, at "eye" among its parameters, begins with the weights that
// the sense of its input has learnt. The names of the parameters that were given; none where nothing is fine-tuned.
std::set<std::string> give_encoder(Bundle& bundle);

}  // namespace heed
