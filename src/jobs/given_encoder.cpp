#include "heed/jobs/given_encoder.h"

#include <algorithm>

#include "heed/models/image_sense.h"

namespace heed {

std::string give_encoder(Bundle& bundle) {
  std::string said;
  for (const auto& sense : bundle.codes.senses) {
    const auto* images = dynamic_cast<const ImageSense*>(sense.get());
    if (!images) continue;
    for (const NamedTensor& each : images->first_parameters()) {
      Tensor value = bundle.parameters->at("eye." + each.name).value();
      std::copy_n(each.tensor.contiguous().data(), value.size(), value.data());
      said = fmt::format("{} is fine-tuned with the model", images->plan().encoder->name);
    }
  }
  return said;
}

}  // namespace heed
