#pragma once

#include <string>
#include <vector>

#include "heed/jobs/job.h"
#include "heed/serve/http.h"

// The inputs of a job as clients send them. Every fault is an HttpError. No text of a request is ever used as the name
// of a file.

namespace heed {

struct RequestLimits {
  Index text = 5000;  // characters of one text
  Index texts = 256;  // texts of one request
  Index beam = 16;    // hypotheses
  Index alternatives = 8;
};

// One value: a text, or the bytes of an image or a sound.
struct SentValue {
  std::string bytes;
  bool is_file = false;
};

// An input by its name, with a value per sample.
struct SentInput {
  std::string name;
  std::vector<SentValue> values;
};

// One sample: values in the order of the job's inputs, and behind them what can be chosen, where that was sent.
using SentSample = std::vector<SentValue>;

// The input that a client means; "text" stands for the only input of a job if that is a text. Nothing if there is none.
const JobSide* input_named(const Job& job, const std::string& name);
// 400 if an input is unknown, missing, there twice, of another kind or of another number of values than the rest; 422
// if there are too many samples, a text is too long, or one is empty by which a label is to be chosen.
std::vector<SentSample> sent_samples(const Job& job, std::vector<SentInput> inputs, const RequestLimits& limits);
// 400 if it is no UTF-8, 422 if it is too long; `name` leads the message.
void check_text(const std::string& name, const std::string& text, const RequestLimits& limits);
// What can be chosen, behind the inputs of a sample. 400 if the job does not choose so, or if one is empty or there
// twice; 422 if they are too many or one is too long.
void add_choices(const Job& job, std::vector<std::string> choices, const RequestLimits& limits, SentSample& sample);

// As a model reads it. Bytes that cannot be decoded are an Error.
Sample decoded_sample(const Job& job, const SentSample& sent);

}  // namespace heed
