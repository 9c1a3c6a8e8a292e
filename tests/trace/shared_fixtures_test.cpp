// The page computes these too, in TypeScript: web/tests/logic/shared_fixtures.test.ts reads the same file.
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "heed/metrics/aer.h"
#include "heed/trace/pick.h"
#include "heed/trace/word_alignment.h"

namespace heed::test {
namespace {

using nlohmann::json;

const json& fixtures() {
  static const json all = json::parse(std::ifstream(HEED_SOURCE_DIR "/tests/shared/trace_logic.json"));
  return all;
}

Tensor tensor_of(const json& rows) {
  const auto n = static_cast<Index>(rows.size()), m = static_cast<Index>(rows.at(0).size());
  Tensor result(Shape{n, m});
  for (Index i = 0; i < n; ++i)
    for (Index j = 0; j < m; ++j)
      result.data()[i * m + j] = rows.at(static_cast<std::size_t>(i)).at(static_cast<std::size_t>(j)).get<Real>();
  return result;
}

// Every number of the fixtures is a sum of few powers of two, so results are exact.
void expect_same(const Tensor& result, const json& expected) {
  const Tensor wanted = tensor_of(expected);
  ASSERT_EQ(result.shape(), wanted.shape());
  for (Index i = 0; i < result.size(); ++i) EXPECT_EQ(result.data()[i], wanted.data()[i]) << "number " << i;
}

TEST(SharedFixtures, PiecesBecomeWords) {
  ASSERT_FALSE(fixtures().at("merge").empty());
  for (const json& each : fixtures().at("merge")) {
    SCOPED_TRACE(each.at("name").get<std::string>());
    const auto rows = each.at("row_words").get<std::vector<Index>>();
    const auto columns = each.at("column_words").get<std::vector<Index>>();
    const json& expected = each.at("by_words");
    const Tensor weights = tensor_of(each.at("trace").at("alignment"));
    expect_same(merge_pieces(weights, rows, static_cast<Index>(expected.size()), columns,
                             static_cast<Index>(expected.at(0).size())),
                expected);
  }
}

TEST(SharedFixtures, LayersRollOut) {
  ASSERT_FALSE(fixtures().at("rollout").empty());
  for (const json& each : fixtures().at("rollout")) {
    SCOPED_TRACE(each.at("name").get<std::string>());
    std::vector<Tensor> layers;
    for (const json& layer : each.at("layers")) layers.push_back(tensor_of(layer));
    expect_same(attention_rollout(layers), each.at("result"));
  }
}

TEST(SharedFixtures, LinksHaveAnError) {
  ASSERT_FALSE(fixtures().at("alignment_error").empty());
  for (const json& each : fixtures().at("alignment_error")) {
    SCOPED_TRACE(each.at("name").get<std::string>());
    const AlignmentLinks proposed = parse_alignment(each.at("proposed").get<std::string>());
    const AlignmentLinks gold = parse_alignment(each.at("gold").get<std::string>());
    EXPECT_DOUBLE_EQ(compare_alignment(proposed, gold).error_rate(), each.at("error").get<double>());
  }
}

}  // namespace
}  // namespace heed::test
