#pragma once

#include <string>
#include <vector>

#include "heed/data/samples.h"

namespace heed {

// The labels that occur in files, in the order of their bytes. Fewer than two are an Error. So are labels of which most
// samples have one of their own: they are texts, and the columns stand in another order.
std::vector<std::string> learn_labels(const SampleFiles& files, const std::vector<SampleColumn>& columns);

}  // namespace heed
