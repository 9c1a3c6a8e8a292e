#include "heed/jobs/given_encoder.h"

#include <algorithm>

#include "heed/models/image_sense.h"

namespace heed {

std::set<std::string> give_encoder(Bundle& bundle) {
  std::set<std::string> given;
  for (const auto& sense : bundle.codes.senses) {
    const auto* images = dynamic_cast<const ImageSense*>(sense.get());
    if (!images) continue;
    for (const NamedTensor& each : images->first_parameters()) {
      const std::string name = "eye." + each.name;
      Tensor value = bundle.parameters->at(name).value();
      std::copy_n(each.tensor.contiguous().data(), value.size(), value.data());
      given.insert(name);
    }
  }
  return given;
}

}  // namespace heed
