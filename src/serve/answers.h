#pragma once

#include <string_view>

#include "heed/serve/http.h"
#include "heed/serve/model_shelf.h"

// Answers that need no work of a model.

namespace heed {

// The page, under a policy that lets it load and send nothing elsewhere; a few words where there is none.
HttpResponse page_answer(std::string_view html);
HttpResponse models_answer(const ModelShelf& models);
// KServe v2: of the server, of a model.
HttpResponse server_answer();
HttpResponse model_answer(const ServedModel& model);
HttpResponse model_ready_answer(const ServedModel& model);

}  // namespace heed
