#include "compare/shard_rules.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tensor/error.h"

namespace opbench {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

DumpEntry entry(const std::string& path, Side side, const std::string& name) {
  DumpEntry made;
  made.path = path;
  made.side = side;
  made.name = name;
  return made;
}

Join concat(int axis) { return {Join::Kind::concat, axis}; }

std::string error_of(const std::string& text) {
  try {
    parse_shard_rules(text, "rules.yaml");
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

TEST(ShardRules, TheFirstRuleThatFitsCounts) {
  const ShardRules rules = parse_shard_rules(R"(
ranks: [3, 1]
rules:
  - {tensors: 'Emb/.*weight', join: concat, axis: 0}
  - {tensors: Emb, join: concat, axis: -2}
  - {tensors: loss, join: sum}
  - {tensors: metric, join: mean}
)",
                                             "rules.yaml");
  EXPECT_THAT(rules.ranks, ElementsAre(3, 1));
  EXPECT_EQ(rules.join_of(entry("/Emb/1/input/weight", Side::input, "weight")), concat(0));
  EXPECT_EQ(rules.join_of(entry("/Emb/1/output/0", Side::output, "0")), concat(-2));
  EXPECT_EQ(rules.join_of(entry("/loss/1/output/0", Side::output, "0")).kind, Join::Kind::sum);
  EXPECT_EQ(rules.join_of(entry("/metric/1/output/0", Side::output, "0")).kind, Join::Kind::mean);
  EXPECT_EQ(rules.join_of(entry("/Mul/1/output/0", Side::output, "0")), Join{}) << "the same";
}

// Megatron's linear layers: Y = X A with A cut by columns, and Z = Y B with B cut by rows. PyTorch
// stores weights transposed.
TEST(ShardRules, ColumnAndRowAreLinearLayers) {
  const ShardRules rules = parse_shard_rules(
      "rules: [{tensors: up, join: column}, {tensors: down, join: row}]", "rules.yaml");
  const auto join = [&](const char* op, Side side, const char* name) {
    return rules.join_of(entry(op, side, name));
  };
  EXPECT_EQ(join("/up", Side::input, "0"), Join{});
  EXPECT_EQ(join("/up", Side::input, "1"), concat(0));
  EXPECT_EQ(join("/up", Side::input, "parameters/weight"), concat(0));
  EXPECT_EQ(join("/up", Side::input, "bias"), concat(0));
  EXPECT_EQ(join("/up", Side::output, "0"), concat(-1));
  EXPECT_EQ(join("/down", Side::input, "0"), concat(-1));
  EXPECT_EQ(join("/down", Side::input, "weight"), concat(1));
  EXPECT_EQ(join("/down", Side::input, "bias"), Join{});
  EXPECT_EQ(join("/down", Side::output, "0").kind, Join::Kind::sum);
}

TEST(ShardRules, AnEmptyFileSaysThatAllIsTheSame) {
  const ShardRules rules = parse_shard_rules("", "rules.yaml");
  EXPECT_THAT(rules.ranks, IsEmpty());
  EXPECT_EQ(rules.join_of(entry("/up", Side::input, "1")), Join{});
}

TEST(ShardRules, ErrorsNameThePlaceAndWhatIsAllowed) {
  EXPECT_EQ(error_of("rules:\n- {tensors: a, join: col}"),
            "rules.yaml:2: join is 'col'; allowed are same, concat, sum, mean, column and row");
  EXPECT_EQ(error_of("rules: [{tensors: a, join: concat}]"),
            "rules.yaml:1: join: concat needs an 'axis'");
  EXPECT_EQ(error_of("rules: [{tensors: a, join: row, axis: 1}]"),
            "rules.yaml:1: 'axis' is for join: concat only");
  EXPECT_EQ(error_of("rules: [{tensors: a}]"),
            "rules.yaml:1: a rule has no 'join': same, concat, sum, mean, column or row");
  EXPECT_EQ(error_of("rules: [{join: sum}]"),
            "rules.yaml:1: a rule has no 'tensors'; it needs a regular expression of paths");
  EXPECT_EQ(error_of("ranks: [1, 2, 1]"), "rules.yaml:1: rank 1 occurs twice");
  EXPECT_EQ(error_of("ranks: [1]"), "rules.yaml:1: ranks: at least two are needed to make a whole");
  EXPECT_EQ(error_of("other: [1]"),
            "rules.yaml:1: unknown key 'other' in shard rules; allowed: ranks, rules");
  EXPECT_NE(error_of("rules: [{tensors: '(', join: sum}]"), "no error");
  EXPECT_NE(error_of("rules: [{tensors: a, join: concat, axis: 99}]"), "no error");
  EXPECT_NE(error_of("rules: 3"), "no error");
}

}  // namespace
}  // namespace opbench
