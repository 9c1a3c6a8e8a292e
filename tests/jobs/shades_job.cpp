// A job that no room knows: what it reads, what it gives and its system stand in this file alone. Tests link it, and
// load it into the command itself (tests/cli/test_job_test.sh), to see that a job needs nothing else.
//
// It reads a grey image in Netpbm's PGM and says whether it is dark, light, or whatever else it was trained to say:
//   x_j = mean of region j of a grid of 4 × 4, less the mean of the training's images,  h_j = tanh(w x_j + b)
//   α = softmax(q·h_j),  scores = V Σ_j α_j h_j + c
// At first w and q are positive: it looks at what is light.

#include <charconv>

#include "heed/attention/mechanism.h"
#include "heed/autograd/ops/shape.h"
#include "heed/base/error.h"
#include "heed/jobs/job.h"
#include "heed/jobs/job_metrics.h"
#include "heed/models/decoder_parts.h"

namespace heed::test {
namespace {

constexpr Index kGrid = 4;
constexpr Index kLargestSide = 1 << 14;

// The next number of the header or of a plain image; comments begin with # and end with the line.
Index next_number(std::string_view bytes, std::size_t& at, const std::string& name) {
  const auto is_space = [](char c) { return c == ' ' || (c >= '\t' && c <= '\r'); };
  while (at < bytes.size() && (is_space(bytes[at]) || bytes[at] == '#'))
    at = bytes[at] == '#' ? std::min(bytes.find('\n', at), bytes.size()) : at + 1;
  Index number = -1;
  const auto [end, error] = std::from_chars(bytes.data() + at, bytes.data() + bytes.size(), number);
  require(error == std::errc() && number >= 0, "{}: there is no number at byte {} of the image", name, at);
  at = static_cast<std::size_t>(end - bytes.data());
  return number;
}

Value decode_pgm(std::string_view bytes, const std::string& name) {
  std::size_t at = 2;
  const Index width = next_number(bytes, at, name), height = next_number(bytes, at, name),
              most = next_number(bytes, at, name);
  require(width >= kGrid && height >= kGrid && width <= kLargestSide && height <= kLargestSide,
          "{}: an image of {} x {} has no {} x {} regions", name, width, height, kGrid, kGrid);
  require(most >= 1 && most <= 255, "{}: the largest number is {}, outside 1..255", name, most);
  const bool plain = bytes.starts_with("P2");
  ++at;  // one white space
  require(plain || bytes.size() >= at + static_cast<std::size_t>(width * height), "{}: {} bytes are missing", name,
          static_cast<Index>(at) + width * height - static_cast<Index>(bytes.size()));
  Value value{.numbers = Tensor(Shape{height, width, 1})};
  for (Index i = 0; i < width * height; ++i) {
    const Index number = plain ? next_number(bytes, at, name) : static_cast<unsigned char>(bytes[at++]);
    require(number <= most, "{}: the number {} is above {}", name, number, most);
    value.numbers.data()[i] = static_cast<Real>(number) / static_cast<Real>(most);
  }
  return value;
}

const RegisterKindDecoder binary{{Kind::image, {".pgm"}, "P5", decode_pgm}};
const RegisterKindDecoder plain{{Kind::image, {".pgm"}, "P2", decode_pgm}};

// The mean of each region: [16, 1].
class Regions final : public Sense {
 public:
  Index width() const override { return 1; }
  Featured operator()(const Value& image) const override;
  void learn(const Lesson& lesson) override {
    double sum = 0;
    Index images = 0;
    for (Value image; lesson.next(image); ++images)
      for (const Real mean : (*this)(image).features.values()) sum += static_cast<double>(mean) / (kGrid * kGrid);
    mean_ = Tensor(Shape{1}, static_cast<Real>(sum / static_cast<double>(std::max<Index>(images, 1))));
  }
  std::vector<NamedTensor> knowledge() const override { return {{"mean", mean_}}; }
  void recall(const GivenValues& given) override { mean_ = given("mean", Shape{1}).value(); }

 private:
  Tensor mean_ = Tensor(Shape{1}, Real{0});
};

Featured Regions::operator()(const Value& image) const {
  const Index height = image.numbers.size(0), width = image.numbers.size(1);
  const Tensor numbers = image.numbers.contiguous();
  Featured featured{.features = Tensor(Shape{kGrid * kGrid, 1}), .rows = kGrid, .columns = kGrid};
  for (Index row = 0; row < kGrid; ++row)
    for (Index column = 0; column < kGrid; ++column) {
      const Index top = row * height / kGrid, bottom = (row + 1) * height / kGrid;
      const Index left = column * width / kGrid, right = (column + 1) * width / kGrid;
      double sum = 0;
      for (Index y = top; y < bottom; ++y)
        for (Index x = left; x < right; ++x) sum += static_cast<double>(numbers.data()[y * width + x]);
      featured.features.data()[row * kGrid + column] =
          static_cast<Real>(sum / static_cast<double>((bottom - top) * (right - left))) - mean_.item();
    }
  return featured;
}

struct ShadesConfig final : Config {
  Index hidden = 8;
  void visit(Fields& field) override { field("hidden", hidden, "width of what is known of a region"); }
};

class Shades final : public Chooser {
 public:
  Shades(const Scope& scope, const ShadesConfig& config)
      : regions_(scope / "regions", config.inputs[0], config.hidden,
                 {.activation = Activation::tanh, .initialise = init::uniform(1, 3)}),
        query_(scope.parameter("query", Shape{1, 1, config.hidden}, init::constant(1))),
        attention_(scope / "attention", composed_of("dot"), config.hidden, config.hidden),
        labels_(scope / "labels", config.hidden, config.outputs) {}

  Chosen forward(const std::vector<Source>& inputs, const ForwardOptions& options) const override {
    const Source& image = inputs.front();
    const Index batch = image.batch(), hidden = query_.size(2);
    Memory memory = attention_.memory(regions_(Var(image.features)), image.lengths);
    memory.gates = options.gates;
    const auto seen = attention_(expand(query_, Shape{batch, 1, hidden}), 0, memory, {}, options.random);
    if (options.trace)
      options.trace->push_back(
          {"label.image", seen.weights.value().contiguous().reshape(Shape{batch, 1, 1, image.longest()})});
    return {labels_(reshape(seen.read, Shape{batch, hidden})), options.alignment ? seen.weights : Var(), {}};
  }
  std::vector<AttentionShape> attentions() const override { return {{.name = "label.image"}}; }

 private:
  Linear regions_;
  Var query_;
  SourceAttention attention_;
  Linear labels_;
};

const RegisterSystem system{
    {.name = "shades",
     .summary = "one look at the regions of a grey image",
     .paper = "of the tests alone",
     .job = "shading",
     .presets = {"paper", "small"},
     .config = [](const std::string&) { return std::make_unique<ShadesConfig>(); },
     .make = make_model<Shades, ShadesConfig>,
     .training = {{"label-smoothing", "0"}, {"learning-rate", "0.02"}, {"schedule", "constant"}},
     .also = {},
     .sense = [](const Config&, std::size_t) { return std::make_unique<Regions>(); }}};

const RegisterJob job{{.name = "shading",
                       .verb = "shade",
                       .spellings = {"shadow"},
                       .summary = "Say how dark images are",
                       .inputs = {{.name = "image", .kind = Kind::image, .help = "images"}},
                       .output = {.name = "label", .kind = Kind::label, .help = "their labels"},
                       .columns = {"label", "image"},
                       .metrics = {accuracy_metric(), macro_f1_metric(), micro_f1_metric()},
                       .system = "shades",
                       .training = {{"batch-samples", "16"}, {"smoothing", "0"}},
                       .report = label_report}};

}  // namespace
}  // namespace heed::test
