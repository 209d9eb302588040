#include "compare/build_comparison.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/compare/comparison_support.h"

namespace opbench {
namespace {

using compare_tests::CallValues;
using compare_tests::compare;
using compare_tests::kTrue;
using testing::ElementsAre;
using testing::HasSubstr;

// One record, correct on both sides.
CallValues call(const std::string& seq) {
  return {"Op" + seq, seq, {{"input/x", kTrue, kTrue}, {"output/y", kTrue, kTrue}}};
}

TEST(BuildComparison, OnlyKeepsOperatorsModulesAndPaths) {
  auto mine = compare_tests::npu({{"A", "1", {"input/x", "output/y"}}, {"B", "2", {"output/y"}}});
  mine[1].notes.push_back({"opbench_module", "layer2.0.bn1"});
  const auto kept = [&](const std::string& word) {
    ComparisonPlan plan{builtin_standards(), {}, {}};
    plan.only = [word](std::string_view name) { return name.find(word) != name.npos; };
    std::vector<std::string> paths;
    for (const auto& op : plan_results(match_dumps({mine, {}}, {}, NameMap{}), plan)) {
      for (const TensorResult& tensor : op.tensors) paths.push_back(tensor.entry().path);
    }
    return paths;
  };
  EXPECT_THAT(kept("A"), ElementsAre("/A/1/input/x", "/A/1/output/y"));
  EXPECT_THAT(kept("layer2"), ElementsAre("/B/2/output/y"));
  EXPECT_THAT(kept("output"), ElementsAre("/A/1/output/y", "/B/2/output/y"));
}

TEST(BuildComparison, UnreachedAndUnreadablePairsAreNotCompared) {
  auto sample = compare({call("1")});
  TensorResult result = sample.comparison.operators[0].tensors[0];
  PairMeasures measures;
  add_measures(result, measures);
  EXPECT_EQ(result.judgement.verdict, Verdict::not_compared);
  EXPECT_EQ(result.judgement.reason, "not reached before the run was stopped");
  measures.error = "npu.h5 was changed";
  add_measures(result, measures);
  EXPECT_EQ(result.judgement.reason, "npu.h5 was changed");
}

TEST(BuildComparison, CrossCheckNeedsOneGoldenTensorForBoth) {
  const auto mine = compare_tests::npu({{"A", "1", {"output/y"}}, {"A", "2", {"output/y"}}});
  const auto theirs = compare_tests::gpu({{"A", "1", {"output/y"}}, {"A", "2", {"output/y"}}});
  const auto golden = compare_tests::cpu({{"A", "5", {"output/y"}}});
  const auto results =
      plan_results(match_dumps({mine, {}}, {theirs, {}}, NameMap{}), {builtin_standards(), {}, {}});
  const auto matches = match_golden(results, match_dumps({mine, {}}, {golden, {}}, NameMap{}),
                                    match_dumps({theirs, {}}, {golden, {}}, NameMap{}));
  ASSERT_EQ(matches.size(), 2u);
  EXPECT_EQ(why_not_cross_checked(matches[0], {}, "ref.h5").reason, "");
  EXPECT_EQ(matches[0].npu.expected, &golden[0].entries[0]);
  EXPECT_EQ(why_not_cross_checked(matches[1], {}, "ref.h5").reason, "not in ref.h5");
}

// Twice the other dump's error is allowed, plus one rounding.
TEST(BuildComparison, ControlHoldsAnErrorToThatOfTheOther) {
  std::vector<float> golden(32, 1.0F), twice = golden, thrice = golden, once = golden;
  for (std::size_t i = 0; i < golden.size(); i += 2) {
    once[i] += 0.001F;
    twice[i] += 0.00199F;
    thrice[i] += 0.003F;
  }
  const auto judged = [&](const std::vector<float>& npu) {
    auto sample = compare({call("1")}, "control");
    TensorResult& result = sample.comparison.operators[0].tensors[0];
    EXPECT_EQ(result.judgement.reason, "not compared with a golden file");
    add_cross_check(result, compare_tests::measured(npu, golden, result.standard),
                    compare_tests::measured(once, golden, result.standard));
    return result.judgement;
  };
  EXPECT_EQ(judged(twice).verdict, Verdict::passed);
  EXPECT_EQ(judged(thrice).verdict, Verdict::failed);
  EXPECT_THAT(judged(thrice).reason, HasSubstr("allowed: the other dump has 0.000707"));
  auto few = compare({call("1")}, "control");
  TensorResult& result = few.comparison.operators[0].tensors[0];
  const auto same = compare_tests::measured(kTrue, kTrue, result.standard);
  add_cross_check(result, same, same);
  EXPECT_EQ(result.judgement.reason, "inconclusive: 3 elements, 16 needed");
}

TEST(BuildComparison, CrossCheckDecidesUnderItsStandardOnly) {
  const auto measures =
      compare_tests::measured({1.5f, 2}, {1, 2}, compare_tests::standard("mixed"));
  const auto exact = compare_tests::measured({1, 2}, {1, 2}, compare_tests::standard("mixed"));
  auto mixed = compare({call("1")});
  TensorResult& first = mixed.comparison.operators[0].tensors[0];
  first.standard = compare_tests::standard("mixed");
  add_cross_check(first, measures, exact);
  EXPECT_EQ(first.judgement.verdict, Verdict::passed);
  EXPECT_NE(first.cross_check, nullptr);
  auto crossed = compare({call("1")}, "cross-check");
  TensorResult& second = crossed.comparison.operators[0].tensors[0];
  EXPECT_EQ(second.judgement.reason, "not compared with a golden file");
  add_cross_check(second, measures, exact);
  EXPECT_EQ(second.judgement.verdict, Verdict::failed);
}

}  // namespace
}  // namespace opbench
