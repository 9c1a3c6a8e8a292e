// Heed's side of bench/eye/encoder.py: the features of EfficientNet-Lite0 as a frozen encoder computes them.
//   heed_eye_bench WEIGHTS.safetensors
// Reads "batch repetitions" from its input, line after line, and prints the sum of all features and, of each
// repetition, the milliseconds of the processor. Picture b has at pixel (y, x) the colours (7x + 13y + 50c + 29b) mod
// 256.

#include <fmt/format.h>

#include <ctime>
#include <iostream>

#include "heed/base/threads.h"
#include "heed/models/image_sense.h"
#include "heed/store/safetensors.h"

namespace {

heed::Tensor pictures(heed::Index batch, heed::Index side) {
  heed::Tensor pixels(heed::Shape{batch, side, side, 3});
  heed::Real* at = pixels.data();
  for (heed::Index b = 0; b < batch; ++b)
    for (heed::Index y = 0; y < side; ++y)
      for (heed::Index x = 0; x < side; ++x)
        for (heed::Index c = 0; c < 3; ++c)
          *at++ = static_cast<heed::Real>((7 * x + 13 * y + 50 * c + 29 * b) % 256) / 255;
  return pixels;
}

}  // namespace

int main(int, char** arguments) {
  const heed::SafetensorsFile file(arguments[1]);
  std::vector<heed::NamedTensor> weights;
  for (const std::string& name : file.names()) weights.push_back({name, file.tensor(name)});
  heed::ImageSense sense({});
  sense.learn({.weights = weights});
  heed::set_thread_count(1);
  heed::Index batch = 0, repetitions = 0;
  while (std::cin >> batch >> repetitions) {
    const heed::Tensor input = pictures(batch, sense.plan().picture), features = sense.features(input);
    double sum = 0;
    for (const heed::Real value : features.values()) sum += static_cast<double>(value);
    std::string line = fmt::format("{}", sum);
    for (heed::Index i = 0; i < repetitions; ++i) {
      const std::clock_t begin = std::clock();
      sense.features(input);
      line += fmt::format(" {:.3f}", 1000.0 * static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC);
    }
    std::cout << line << std::endl;
  }
}
