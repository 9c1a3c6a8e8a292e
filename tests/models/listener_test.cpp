#include "heed/models/listener.h"

#include <gtest/gtest.h>

#include "attention/composition_cases.h"
#include "heed/tensor/memory.h"
#include "models/translation_cases.h"
#include "support/messages.h"

namespace heed::test {
namespace {

constexpr Index kFrameWidth = 5;
using Settings = std::map<std::string, std::string>;

std::unique_ptr<ListenerConfig> tiny_listener(const Settings& settings) {
  auto config = std::make_unique<ListenerConfig>();
  make_tiny(*config, {"listener", settings}, 4);
  config->inputs = {kFrameWidth}, config->outputs = kTargetWords;
  return config;
}

Source frames(const std::vector<std::int32_t>& lengths, std::uint64_t seed = 3) {
  const auto batch = static_cast<Index>(lengths.size());
  Source source{
      .lengths = Ids(Shape{batch}),
      .features = random_tensor(Shape{batch, *std::max_element(lengths.begin(), lengths.end()), kFrameWidth}, seed)};
  std::copy(lengths.begin(), lengths.end(), source.lengths.data());
  return source;
}

struct Made {
  explicit Made(const Settings& settings)
      : config(tiny_listener(settings)), parameters(1), model(make_writer("listener", Scope(parameters), *config)) {
    randomise(parameters, 1, 0.4);
  }
  std::unique_ptr<ListenerConfig> config;
  Parameters parameters;
  std::unique_ptr<Writer> model;
};

// The weights of halved time are spread over the frames that became one, of which the last may be alone.
TEST(Listener, LooksAtFramesHoweverOftenTimeIsHalved) {
  const Made made(Settings{{"layers", "3"}, {"halvings", "2"}});
  const Source source = frames({9, 4});
  const TeacherForced forced = made.model->forward(source, sentences({{1, 4, 8}, {1, 9}}), {.alignment = true});
  const Tensor weights = forced.alignment.value().contiguous();
  ASSERT_EQ(weights.shape(), (Shape{2, 3, 9}));
  for (Index j = 1; j < 4; ++j) EXPECT_EQ(weights.at({0, 0, j}), weights.at({0, 0, 0}));  // four frames are one
  EXPECT_NE(weights.at({0, 0, 4}), weights.at({0, 0, 3}));
  double sum = 0;
  for (Index j = 0; j < 9; ++j) sum += static_cast<double>(weights.at({0, 1, j}));
  EXPECT_NEAR(sum, 1, 1e-5);
  for (Index j = 4; j < 9; ++j) EXPECT_EQ(weights.at({1, 0, j}), 0);
}

TEST(Listener, LearnsCtcInTrainingAlone) {
  const Made with(Settings{{"ctc-weight", "0.5"}, {"halvings", "0"}}), without(Settings{{"halvings", "0"}});
  const Source source = frames({9, 4}), previous = sentences({{1, 4, 8}, {1, 9}});
  Random random(1);
  EXPECT_FALSE(with.model->forward(source, previous).penalty);
  EXPECT_FALSE(without.model->forward(source, previous, {.random = &random}).penalty);
  const Var penalty = with.model->forward(source, previous, {.random = &random}).penalty;
  ASSERT_TRUE(penalty);
  EXPECT_GT(penalty.value().item(), 0);
  // Texts that a model drew, which row_weights come with, are no transcripts.
  const Tensor drawn(Shape{source.batch()}, Real{1});
  EXPECT_FALSE(with.model->forward(source, previous, {.random = &random, .row_weights = drawn}).penalty);
  // Four frames cannot hold five words: they teach nothing.
  const Var impossible = with.model->forward(frames({4}), sentences({{1, 4, 8, 9, 5, 6}}), {.random = &random}).penalty;
  EXPECT_EQ(impossible.value().item(), 0);
}

// CTC's paths go with their rows, and shares of both scores lie between them.
TEST(Listener, SearchesWithCtc) {
  const Settings settings{{"ctc-weight", "1"}, {"halvings", "1"}};
  const auto scores = [&](const char* share, const std::vector<std::int32_t>& words) {
    Settings with = settings;
    with["ctc-search"] = share;
    const Made made(with);
    const auto decoding = made.model->start(frames({9, 6}));
    decoding->step(ids({1, 1}));
    decoding->select(ids({1, 0, 0}));
    Decoding::Step step;
    for (const std::int32_t word : words) step = decoding->step(ids({word, word, 5}));
    return step.log_probabilities().slice(0, 1, 2).contiguous();  // the first sound, whatever its neighbours do
  };
  const Tensor attention = scores("0", {4, 7}), ctc = scores("1", {4, 7}), both = scores("0.25", {4, 7});
  EXPECT_LT(ctc.at({0, 1}), -1000);  // the blank is no word
  for (std::int32_t word = 0; word < kTargetWords; ++word)
    EXPECT_NEAR(both.at({0, word}), 0.75 * attention.at({0, word}) + 0.25 * ctc.at({0, word}), 1e-2) << word;
  const Made alone(Settings{{"ctc-weight", "1"}, {"halvings", "1"}, {"ctc-search", "1"}});
  Source first = frames({9, 6});
  first.features = first.features.slice(0, 0, 1).contiguous(), first.lengths = ids({9});
  const auto decoding = alone.model->start(first);
  for (const std::int32_t word : {1, 4}) decoding->step(ids({word}));
  EXPECT_LE(distance(decoding->step(ids({7})).log_probabilities(), ctc), 1e-3);
}

// A sound of 9 frames ends beyond a reach of 1 while the middle of the look is in its first 7; one of 2 may always end.
TEST(Listener, EndsOnlyWhereTheEndIsInSight) {
  const auto scores = [](const char* in_sight, const char* reach, Index& middle) {
    const Made made(Settings{{"halvings", "0"}, {"end-in-sight", in_sight}, {"half-width", reach}});
    const Decoding::Step step = made.model->start(frames({9, 2}))->step(ids({1, 1}));
    double sum = 0;
    for (middle = 0; (sum += static_cast<double>(step.weights.at({0, middle}))) < 0.5;) ++middle;
    return step.words.contiguous();
  };
  Index middle = 0;
  const Tensor free = scores("false", "1", middle), bound = scores("true", "1", middle);
  ASSERT_LT(middle, 7);
  EXPECT_EQ(bound.at({0, kEnd}), -std::numeric_limits<Real>::infinity());
  EXPECT_EQ(bound.at({1, kEnd}), free.at({1, kEnd}));
  EXPECT_EQ(bound.at({0, kEnd + 1}), free.at({0, kEnd + 1}));
  EXPECT_EQ(scores("true", std::to_string(8 - middle).c_str(), middle).at({0, kEnd}), free.at({0, kEnd}));
}

TEST(Listener, HidesFeaturesInTrainingAlone) {
  const Made made(Settings{{"masks", "2"}, {"mask-features", "3"}, {"mask-frames", "4"}, {"halvings", "0"}});
  const Source source = frames({30}), previous = sentences({{1, 4, 8}});
  const auto logits = [&](Random* random) {
    return made.model->forward(source, previous, {.random = random}).words.logits().value().contiguous();
  };
  Random one(1), same(1), other(2);
  EXPECT_TRUE(same_bits(logits(nullptr), logits(nullptr)));
  const Tensor hidden = logits(&one);
  EXPECT_TRUE(same_bits(hidden, logits(&same)));
  EXPECT_FALSE(same_bits(hidden, logits(nullptr)));
  EXPECT_FALSE(same_bits(hidden, logits(&other)));
}

TEST(Listener, TakesMemoryInProportionToTheSound) {
  const Made made(Settings{{"layers", "3"}, {"halvings", "2"}});
  const auto taken = [&](std::int32_t length) {
    const NoGradient off;
    const Source source = frames({length}), previous = sentences({{1, 4, 8}});
    memory::reset_peak();
    const std::size_t before = memory::statistics().peak_bytes;
    made.model->forward(source, previous);
    return static_cast<double>(memory::statistics().peak_bytes - before);
  };
  const double some = taken(3000);
  EXPECT_GT(some, 0);
  EXPECT_LT(taken(12'000), 4.5 * some);
}

TEST(Listener, SaysWhatMakesNoSense) {
  const auto fault = [](const Settings& settings) { return message_of([&] { const Made made(settings); }); };
  EXPECT_EQ(fault(Settings{{"layers", "2"}, {"halvings", "2"}}),
            "[listener] time is halved between layers, at most 1 times with 2, not 2");
  EXPECT_EQ(fault(Settings{{"halvings", "0"}, {"ctc-search", "0.3"}}),
            "[listener] a search with CTC needs a model that learned it: ctc-weight is 0");
  EXPECT_NE(fault(Settings{{"halvings", "0"}, {"halving", "mean"}}).find("[listener] halving cannot be mean"),
            std::string::npos);
}

}  // namespace
}  // namespace heed::test
