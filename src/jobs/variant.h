#pragma once

#include <memory>
#include <string>
#include <vector>

#include "heed/jobs/bundle.h"

// A trained model with another part in its attention.

namespace heed {

// "additive × global × softmax"; empty for a model whose attention is not composed by its configuration.
std::string attention_of(const Bundle& bundle);

// The normaliser that the model was trained with; empty for a model that has none to exchange.
std::string normaliser_of(const Bundle& bundle);
// The same model with another normaliser: parts without parameters are exchanged, the weights stay. An Error says why
// that cannot be: the model has no such part, there is no such normaliser, or the weights do not fit.
std::shared_ptr<const Bundle> with_normaliser(const Bundle& bundle, const std::string& name);
// Those that with_normaliser takes, by name, without the model's own.
std::vector<std::string> other_normalisers(const Bundle& bundle);

}  // namespace heed
