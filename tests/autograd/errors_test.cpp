#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <set>

#include "heed/attention/additive.h"
#include "heed/attention/fused.h"
#include "heed/autograd/ops/along.h"
#include "heed/autograd/ops/convolution.h"
#include "heed/autograd/ops/ctc.h"
#include "heed/autograd/ops/elementwise.h"
#include "heed/autograd/ops/embedding.h"
#include "heed/autograd/ops/loss.h"
#include "heed/autograd/ops/matrix.h"
#include "heed/autograd/ops/norm.h"
#include "heed/autograd/ops/pooling.h"
#include "heed/autograd/ops/recurrent.h"
#include "heed/autograd/ops/reduce.h"
#include "heed/autograd/ops/shape.h"
#include "heed/autograd/ops/softmax.h"
#include "heed/autograd/ops/sparse_weights.h"
#include "support/messages.h"
#include "support/op_cases.h"

// For every op at least one wrong call: the message leads with the op and quotes what does not fit.

namespace heed::test {
namespace {

struct WrongCall {
  std::string op;  // in the registry
  std::function<void()> call;
  std::string message;
};

Var zeros(const Shape& shape) { return Var::leaf(Tensor(shape, Real{0})); }
Ids ids(std::initializer_list<std::int32_t> list) { return Ids(Shape{static_cast<Index>(list.size())}, list); }

const Index kHalf = Index{1} << 62, kQuarter = Index{1} << 60;

const std::vector<WrongCall>& wrong_calls() {
  static const Var matrix = zeros(Shape{2, 3}), cube = zeros(Shape{2, 3, 4}), list = zeros(Shape{5}), one = zeros({});
  static const std::vector<WrongCall> calls = {
      {"add", [] { matrix + list; }, "[add] shapes [2, 3] and [5] do not broadcast: 3 against 5"},
      {"subtract", [] { matrix - cube; }, "[subtract] shapes [2, 3] and [2, 3, 4] do not broadcast: 3 against 4"},
      {"multiply", [] { zeros(Shape{0}) * list; }, "[multiply] shapes [0] and [5] do not broadcast: 0 against 5"},
      {"divide", [] { list / matrix; }, "[divide] shapes [5] and [2, 3] do not broadcast: 5 against 3"},
      {"maxout", [] { maxout(matrix, 2); }, "[maxout] the last axis of shape [2, 3] does not split into groups of 2"},
      {"maxout", [] { maxout(matrix, 0); }, "[maxout] the last axis of shape [2, 3] does not split into groups of 0"},
      {"maxout", [] { maxout(matrix, -3); }, "[maxout] the last axis of shape [2, 3] does not split into groups of -3"},
      {"maxout", [] { maxout(one, 1); }, "[maxout] the last axis of shape [] does not split into groups of 1"},
      {"glu", [] { glu(matrix); }, "[glu] the last axis of shape [2, 3] does not split into halves"},
      {"glu", [] { glu(one); }, "[glu] the last axis of shape [] does not split into halves"},

      {"matmul", [] { matmul(matrix, matrix); },
       "[matmul] inner dimensions differ: 3 and 2 (shapes [2, 3] and [2, 3])"},
      {"matmul", [] { matmul(matrix, list); }, "[matmul] needs matrices, not shapes [2, 3] and [5]"},
      {"matmul",
       [] {
         matmul(zeros(Shape{2, 1, 3}), zeros(Shape{4, 3, 1}));
       },
       "[matmul] shapes [2] and [4] do not broadcast: 2 against 4"},
      {"linear", [] { linear(matrix, matrix); }, "[linear] input [2, 3] does not fit weight [2, 3]"},
      {"linear", [] { linear(one, matrix); }, "[linear] input [] does not fit weight [2, 3]"},
      {"linear",
       [] {
         linear(zeros(Shape{4, 2}), matrix, list);
       },
       "[linear] bias [5] does not fit weight [2, 3]"},

      {"sum", [] { sum(matrix, 2); }, "[sum] axis 2 does not exist in shape [2, 3]"},
      {"mean", [] { mean(matrix, -3); }, "[mean] axis -3 does not exist in shape [2, 3]"},
      {"mean",
       [] {
         mean(zeros(Shape{2, 0}), 1);
       },
       "[mean] axis 1 of shape [2, 0] is empty"},
      {"mean_all", [] { mean(zeros(Shape{0})); }, "[mean] axis 0 of shape [0] is empty"},
      {"largest", [] { largest(matrix, 5); }, "[largest] axis 5 does not exist in shape [2, 3]"},
      {"largest",
       [] {
         largest(zeros(Shape{0, 2}), 0);
       },
       "[largest] axis 0 of shape [0, 2] is empty"},

      {"reshape",
       [] {
         reshape(matrix, Shape{4, 2});
       },
       "[reshape] shape [2, 3] (6 elements) cannot become [4, 2] (8 elements)"},
      {"transpose", [] { transpose(matrix, 0, 2); }, "[transpose] axis 2 does not exist in shape [2, 3]"},
      {"slice", [] { slice(matrix, 0, 1, 3); }, "[slice] range 1..3 is outside axis 0 of shape [2, 3]"},
      {"slice", [] { slice(matrix, 2, 0, 1); }, "[slice] axis 2 does not exist in shape [2, 3]"},
      {"slice", [] { at(matrix, 1, 3); }, "[at] position 3 is outside axis 1 of shape [2, 3]"},
      {"slice", [] { at(matrix, 1, -1); }, "[at] position -1 is outside axis 1 of shape [2, 3]"},
      {"split",
       [] {
         split(list, 0, std::vector<Index>{2, 2});
       },
       "[split] sizes [2, 2] do not add up to 5, axis 0 of shape [5]"},
      {"split",
       [] {
         split(list, 0, std::vector<Index>{6, -1});
       },
       "[split] sizes [6, -1] do not add up to 5, axis 0 of shape [5]"},
      {"split",
       [] {
         split(list, 0, std::vector<Index>{kHalf, kHalf, 5, kHalf, kHalf});
       },
       "[split] sizes [4611686018427387904, 4611686018427387904, 5, 4611686018427387904, 4611686018427387904] do not "
       "add up to 5, axis 0 of shape [5]"},
      {"concat",
       [] {
         concat({matrix, zeros(Shape{3, 3})}, 1);
       },
       "[concat] shapes [2, 3] and [3, 3] differ outside axis 1"},
      {"concat",
       [] {
         concat({matrix, cube}, 0);
       },
       "[concat] shapes [2, 3] and [2, 3, 4] differ outside axis 0"},
      {"concat", [] { concat({}, 0); }, "[concat] needs at least one part"},
      {"stack",
       [] {
         stack(std::vector<Var>{matrix, list}, 0);
       },
       "[stack] shapes [2, 3] and [5] differ"},
      {"stack", [] { stack(std::vector<Var>{matrix}, 3); }, "[stack] axis 3 does not fit shape [2, 3]"},
      {"stack", [] { stack({}, 0); }, "[stack] needs at least one part"},
      {"pad", [] { pad(list, 0, -1, 2); }, "[pad] negative padding -1, 2"},
      {"pad", [] { pad(list, 0, kHalf, kHalf); },
       "[pad] padding 4611686018427387904, 4611686018427387904 is too large for axis 0 of shape [5]"},
      {"pad", [] { pad(list, 0, kQuarter, 0); }, "[shape] the number of elements of [1152921504606846981] overflows"},
      {"gather",
       [] {
         gather(matrix, 0, ids({1, 2}));
       },
       "[gather] position 2 is outside axis 0 of shape [2, 3]"},
      {"gather", [] { gather(matrix, 0, ids({-1})); }, "[gather] position -1 is outside axis 0 of shape [2, 3]"},
      {"gather",
       [] {
         gather(matrix, 0, Ids(Shape{1, 1}, 0));
       },
       "[gather] ids are a list, not shape [1, 1]"},
      {"additive_scores",
       [] {
         const Tensor q(Shape{1, 1, 2, 3}, Real{1}), k(Shape{1, 1, 4, 2}, Real{1});
         additive_scores(q, k, Tensor(Shape{3}, Real{1}));
       },
       "[additive] queries [1, 1, 2, 3], keys [1, 1, 4, 2] and weights [3] do not fit"},
      {"fused_attention",
       [] {
         const Tensor q(Shape{1, 1, 2, 3}, Real{1}), k(Shape{1, 1, 4, 2}, Real{1});
         attend_fused(q, k, k);
       },
       "[fused_attention] queries are 3 wide, keys 2"},
      {"take_along",
       [] {
         take_along(matrix, Ids(Shape{2, 1}, 3));
       },
       "[take_along] position 3 is outside 0..2"},
      {"sum_along",
       [] {
         sum_along(matrix, Ids(Shape{2, 2}, 0), 4);
       },
       "[sum_along] ids [2, 2] do not fit [2, 3]"},
      {"sparsemax",
       [] {
         sparsemax(matrix, Mask(Shape{2, 2}, true));
       },
       "[sparsemax] shapes [2, 2] and [2, 3] do not broadcast: 2 against 3"},
      {"entmax15",
       [] {
         entmax15(matrix, Mask(Shape{3, 2, 3}, true));
       },
       "[entmax15] a mask of shape [3, 2, 3] does not fit [2, 3]"},
      {"monotonic",
       [] {
         monotonic_weights(matrix, Tensor(Shape{2, 2}, Real{1}));
       },
       "[monotonic] probabilities [2, 3] and previous weights [2, 2] differ"},
      {"pick",
       [] {
         pick(matrix, ids({0, 3}));
       },
       "[pick] position 3 is outside the last axis of shape [2, 3]"},
      {"pick",
       [] {
         pick(matrix, ids({0, -1}));
       },
       "[pick] position -1 is outside the last axis of shape [2, 3]"},
      {"pick",
       [] {
         pick(matrix, ids({0, 1, 2}));
       },
       "[pick] ids [3] do not fit shape [2, 3]"},
      {"expand",
       [] {
         expand(matrix, Shape{4, 3});
       },
       "[expand] shapes [2, 3] and [4, 3] do not broadcast: 2 against 4"},
      {"expand", [] { expand(matrix, Shape{3}); }, "[expand] shape [2, 3] does not expand to [3]"},

      {"softmax", [] { softmax(matrix, Mask(Shape{4}, true)); },
       "[softmax] shapes [4] and [2, 3] do not broadcast: 4 against 3"},
      {"softmax",
       [] {
         softmax(list, Mask(Shape{2, 5}, true));
       },
       "[softmax] a mask of shape [2, 5] does not fit [5]"},
      {"softmax", [] { softmax(one); }, "[softmax] needs at least one axis"},
      {"log_softmax",
       [] {
         log_softmax(list, Mask(Shape{2, 5}, true));
       },
       "[log_softmax] a mask of shape [2, 5] does not fit [5]"},
      {"log_softmax", [] { log_softmax(one); }, "[log_softmax] needs at least one axis"},

      {"layer_norm", [] { layer_norm(matrix, list, list); },
       "[layer_norm] gain [5] and bias [5] do not fit input [2, 3]"},
      {"layer_norm",
       [] {
         layer_norm(zeros(Shape{2, 0}), zeros(Shape{0}), zeros(Shape{0}));
       },
       "[layer_norm] needs a last axis, not shape [2, 0]"},
      {"residual_layer_norm", [] { residual_layer_norm(matrix, cube, zeros(Shape{3}), zeros(Shape{3})); },
       "[residual_layer_norm] input [2, 3] and residual [2, 3, 4] differ"},
      {"weight_norm", [] { weight_norm(matrix, list); }, "[weight_norm] gains [5] do not fit weights [2, 3]"},

      {"embedding",
       [] {
         embedding(matrix, ids({0, 2}));
       },
       "[embedding] id 2 is outside the vocabulary of 2"},
      {"embedding", [] { embedding(matrix, ids({-7})); }, "[embedding] id -7 is outside the vocabulary of 2"},
      {"embedding", [] { embedding(cube, ids({0})); }, "[embedding] the table is a matrix, not shape [2, 3, 4]"},
      {"dropout", [] { dropout(list, 1.0, {}); }, "[dropout] the rate 1 is outside [0, 1)"},
      {"dropout", [] { dropout(list, -0.25, {}); }, "[dropout] the rate -0.25 is outside [0, 1)"},
      {"cross_entropy",
       [] {
         cross_entropy(matrix, ids({0, 3}));
       },
       "[cross_entropy] target 3 is outside the 3 classes"},
      {"cross_entropy",
       [] {
         cross_entropy(matrix, ids({0, -2}));
       },
       "[cross_entropy] target -2 is outside the 3 classes"},
      {"cross_entropy", [] { cross_entropy(matrix, ids({0})); },
       "[cross_entropy] targets [1] do not fit logits [2, 3]"},
      {"cross_entropy",
       [] {
         cross_entropy(matrix, ids({0, 1}), {.label_smoothing = 1.5});
       },
       "[cross_entropy] label smoothing 1.5 is outside [0, 1)"},
      {"ctc_loss",
       [] {
         ctc_loss(cube, ids({3, 3}), {Ids(Shape{2, 1}, 4), ids({1, 1})});
       },
       "[ctc_loss] label 4 is the blank 0 or outside the 4 classes"},
      {"ctc_loss",
       [] {
         ctc_loss(cube, ids({3, 4}), {Ids(Shape{2, 1}, 1), ids({1, 1})});
       },
       "[ctc_loss] a length of 4 is outside 0..3"},
      {"ctc_loss",
       [] {
         ctc_loss(matrix, ids({3, 3}), {Ids(Shape{2, 1}, 1), ids({1, 1})});
       },
       "[ctc_loss] logits must be [batch, frames, classes], not [2, 3]"},
      {"linear_cross_entropy",
       [] {
         linear_cross_entropy(matrix, zeros(Shape{3, 4}), {}, ids({0, 4}));
       },
       "[linear_cross_entropy] target 4 is outside the 4 classes"},
      {"linear_cross_entropy",
       [] {
         linear_cross_entropy(matrix, zeros(Shape{3, 4}), {}, ids({0, 1}), {}, {.b = true});
       },
       "[linear_cross_entropy] input [2, 3] does not fit weights [3, 4] and targets [2]"},
      {"linear_cross_entropy",
       [] {
         linear_cross_entropy(matrix, zeros(Shape{3, 4}), list, ids({0, 1}));
       },
       "[linear_cross_entropy] bias [5] does not fit 4 classes"},
      {"linear_cross_entropy",
       [] {
         linear_cross_entropy(matrix, cube, {}, ids({0, 1}));
       },
       "[linear_cross_entropy] weights [2, 3, 4] are not a matrix"},

      {"conv1d", [] { conv1d(cube, cube); },
       "[conv1d] the input [2, 3, 4] has 4 channels, the weight [2, 3, 4] takes 3"},
      {"conv1d",
       [] {
         conv1d(cube, zeros(Shape{4, 4, 1}));
       },
       "[conv1d] the kernel spans 4 positions over time, the padded input has 3"},
      {"conv2d", [] { conv2d(cube, cube); },
       "[conv2d] the input must be [batch, height, width, in], not of shape [2, 3, 4]"},
      {"depthwise_conv2d", [] { depthwise_conv2d(cube, cube); },
       "[depthwise_conv2d] the input must be [batch, height, width, channels], not of shape [2, 3, 4]"},
      {"max_pool1d", [] { max_pool1d(matrix); },
       "[max_pool1d] the input must be [batch, time, channels], not of shape [2, 3]"},
      {"mean_pool1d", [] { mean_pool1d(cube, {.window = 4}); },
       "[mean_pool1d] the window spans 4 positions over time, the padded input has 3"},
      {"max_pool2d", [] { max_pool2d(cube); },
       "[max_pool2d] the input must be [batch, height, width, channels], not of shape [2, 3, 4]"},
      {"mean_pool2d", [] { mean_pool2d(matrix); },
       "[mean_pool2d] the input must be [batch, height, width, channels], not of shape [2, 3]"},

      {"lstm",
       [] {
         lstm(matrix, {matrix, matrix, {}});
       },
       "[lstm] x must be [batch, time, in], not [2, 3]"},
      {"lstm",
       [] {
         lstm(cube, {zeros(Shape{4, 8}), zeros(Shape{2, 7}), {}});
       },
       "[lstm] recurrent weights must be [hidden, 4·hidden], not [2, 7]"},
      {"gru",
       [] {
         gru(cube, {zeros(Shape{3, 6}), zeros(Shape{2, 6}), {}, {}});
       },
       "[gru] input weights must be [4, 6], not [3, 6]"},
      {"gru",
       [] {
         gru(cube, {zeros(Shape{4, 6}), zeros(Shape{2, 6}), {}, {}}, {}, {}, {ids({3, 4}), false});
       },
       "[gru] length 4 of sentence 1 is outside 0..3"},
      {"lstm_bias_per_sentence",
       [] {
         lstm(cube, {zeros(Shape{4, 8}), zeros(Shape{2, 8}), zeros(Shape{3, 8})});
       },
       "[lstm] the bias must be [8] or [2, 8], not [3, 8]"},
      {"gru_bias_per_sentence",
       [] {
         gru(cube, {zeros(Shape{4, 6}), zeros(Shape{2, 6}), zeros(Shape{3, 6}), {}});
       },
       "[gru] the bias must be [6] or [2, 6], not [3, 6]"},
      {"lstm_step",
       [] {
         lstm_step(cube, {}, {matrix, matrix, {}});
       },
       "[lstm_step] x must be [batch, in], not [2, 3, 4]"},
      {"gru_step",
       [] {
         gru_step(cube, {}, {matrix, matrix, {}, {}});
       },
       "[gru_step] x must be [batch, in], not [2, 3, 4]"},
      {"lstm_both_ways",
       [] {
         const LstmWeights right{zeros(Shape{4, 8}), zeros(Shape{2, 8}), {}};
         lstm_both_ways(cube, {right, {zeros(Shape{3, 8}), zeros(Shape{2, 8}), {}}});
       },
       "[lstm_both_ways] input weights must be [4, 8], not [3, 8]"},
      {"gru_both_ways",
       [] {
         const GruWeights right{zeros(Shape{4, 6}), zeros(Shape{2, 6}), {}, {}};
         gru_both_ways(cube, {right, right}, {{}, zeros(Shape{2, 3})});
       },
       "[gru_both_ways] the state must be [2, 2], not [2, 3]"},
  };
  return calls;
}

TEST(Errors, EveryWrongCallSaysWhatDoesNotFit) {
  for (const WrongCall& wrong : wrong_calls()) EXPECT_EQ(message_of(wrong.call), wrong.message) << wrong.op;
}

TEST(Errors, EveryRegisteredOpHasAWrongCall) {
  // Take any tensor, so that nothing could be wrong; or are further results of an op that stands here.
  std::set<std::string> tried = {"negate",
                                 "tanh",
                                 "sigmoid",
                                 "relu",
                                 "relu6",
                                 "gelu",
                                 "exp",
                                 "log",
                                 "sqrt",
                                 "square",
                                 "scale",
                                 "sum_all",
                                 "further_result",
                                 "lstm_all_results",
                                 "gru_all_results",
                                 "lstm_both_ways_all_results",
                                 "gru_both_ways_all_results"};
  for (const WrongCall& wrong : wrong_calls()) tried.insert(wrong.op);
  for (const OpCase& op : op_cases()) EXPECT_TRUE(tried.count(op.op)) << op.op << " has no wrong call in this file";
}

TEST(Errors, AnImpossibleProductIsAnErrorNotACrash) {
  const Tensor tall = Tensor::scalar(1).expand(Shape{Index{1} << 29, 1});
  const std::string text = message_of([&] { matmul(Var(tall), Var(tall), {false, true}); });
  EXPECT_EQ(text, "[memory] cannot allocate 1152921504606847040 bytes");
}

}  // namespace
}  // namespace heed::test
