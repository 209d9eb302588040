#include "compare/analysis.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "judge/compare_values.h"
#include "tensor/error.h"
#include "tests/compare/comparison_support.h"

namespace opbench {
namespace {

using compare_tests::CallValues;
using compare_tests::compare;
using testing::ElementsAre;
using testing::HasSubstr;

// 3-4-0 and what departs from it by the part `error` of its length, in the last element.
const std::vector<float> kTrue = {3, 4, 0};
std::vector<float> off(float error) { return {3, 4, 5 * error}; }

CallValues call(const std::string& seq, float input_error, float output_error) {
  return {"Op" + seq,
          seq,
          {{"input/x", off(input_error), kTrue}, {"output/y", off(output_error), kTrue}}};
}

Comparison& in(compare_tests::HandMade& sample) { return sample.comparison; }

TEST(Analysis, TellsIntroducedFromInherited) {
  auto sample = compare({call("1", 0, 0), call("2", 0, 0.1f), call("3", 0.1f, 0.1f),
                         call("4", 0.1f, 0.5f), call("5", 0.5f, 0)});
  const auto& ops = in(sample).operators;
  EXPECT_EQ(ops[0].origin, Origin::none);
  EXPECT_EQ(ops[0].verdict, Verdict::passed);
  EXPECT_EQ(ops[1].origin, Origin::introduced);
  EXPECT_EQ(ops[1].explanation, "its inputs agree");
  EXPECT_EQ(ops[2].origin, Origin::inherited);
  EXPECT_EQ(ops[2].explanation, "1 of 1 inputs fail already");
  EXPECT_EQ(ops[3].origin, Origin::amplified);
  EXPECT_EQ(ops[4].origin, Origin::repaired);
  EXPECT_EQ(ops[4].verdict, Verdict::failed);
}

// Both are off by 1e-3, which the input's tolerance holds and the output's, of a smaller unit, does
// not.
TEST(Analysis, WhatIsAsFarOffAsItsInputsIsInherited) {
  std::vector<float> x(100, 1.0F), y(100, 1.0F), off_x = x, off_y = y;
  for (std::size_t i = 0; i < x.size(); ++i) {
    off_x[i] += i % 2 == 0 ? 9e-4F : -9e-4F;
    off_y[i] += i % 2 == 0 ? 1.1e-3F : -1.1e-3F;
  }
  auto sample = compare({{"Op", "1", {{"input/x", off_x, x}, {"output/y", off_y, y}}}});
  const OperatorResult& op = in(sample).operators[0];
  EXPECT_EQ(op.verdict, Verdict::failed);
  EXPECT_EQ(op.origin, Origin::inherited);
  EXPECT_EQ(op.explanation, "its inputs are as far off, though inside their tolerance");
  EXPECT_EQ(exit_code(in(sample), FailOn::first), kVerdictFailed) << "the first that fails";
}

TEST(Analysis, ErrorsAreRelativeToTheLength) {
  auto sample = compare({call("1", 0.1f, 0.5f), call("2", 0, 0.5f), call("3", 0.1f, 0)});
  const auto& ops = in(sample).operators;
  EXPECT_NEAR(*ops[0].input_error, 0.1, 1e-7);
  EXPECT_NEAR(*ops[0].output_error, 0.5, 1e-7);
  EXPECT_NEAR(*ops[0].amplification, 5, 1e-5);
  EXPECT_EQ(*ops[1].amplification, HUGE_VAL);
  EXPECT_FALSE(ops[2].amplification.has_value());
}

TEST(Analysis, ErrorsOfNanAndOfZerosAreInfinite) {
  auto sample =
      compare({{"A", "1", {{"output/y", {NAN, 1}, {1, 1}}, {"output/z", {1, 0}, {0, 0}}}}});
  const auto& tensors = in(sample).operators[0].tensors;
  EXPECT_EQ(tensors[0].relative_error(), HUGE_VAL);
  EXPECT_EQ(tensors[1].relative_error(), HUGE_VAL);
}

// fp64 squares of these are 0 or infinite.
TEST(Analysis, SquaresOutOfRangeDoNotHideAnError) {
  for (const double unit : {1e-200, 1e200}) {
    const std::vector<double> expected = {unit, 2 * unit}, actual = {unit, 3 * unit};
    TensorResult result;
    result.is_measured = true;
    result.stats = compare_values(actual.data(), DType::fp64, expected.data(), DType::fp64, 2,
                                  {.kind = StandardKind::cosine, .least_cosine = 0.9})
                       .stats;
    EXPECT_NEAR(result.relative_error(), 1 / std::sqrt(5), 1e-12);  // |(0, 1)| / |(1, 2)|
    EXPECT_NEAR(result.stats.cosine(), 7 / std::sqrt(50), 1e-12);
    EXPECT_NEAR(result.stats.rmse() / unit, std::sqrt(0.5), 1e-12);
  }
}

// A constant input is as good as any if it is the same one.
TEST(Analysis, InputsThatAreTheSameAreNotMistrusted) {
  const std::vector<float> same(5, 2.0F), zeros(5, 0.0F);
  const auto sample = compare(
      {{"A", "1", {{"input/x", same, same}, {"input/z", zeros, zeros}, {"output/y", same, same}}}});
  EXPECT_EQ(count(sample.comparison).mistrusted, 1) << "the output proves little";
  EXPECT_EQ(count(sample.comparison).passed, 2);
}

TEST(Analysis, LoadModeIntroducesAll) {
  auto sample = compare({{"A", "1", {{"input/x", {}, kTrue}, {"output/y", off(0.5f), kTrue}}}});
  EXPECT_TRUE(in(sample).is_load_mode);
  const OperatorResult& op = in(sample).operators[0];
  EXPECT_EQ(op.origin, Origin::introduced);
  EXPECT_EQ(op.explanation, "its inputs were the expected dump's own");
  EXPECT_EQ(op.tensors[0].judgement.reason, "was an input of the run that made npu.h5 (load mode)");
}

TEST(Analysis, OriginIsUnknownWithoutInputsOrOutputs) {
  auto sample = compare({{"A", "1", {{"input/x", {}, kTrue}, {"output/y", off(0.5f), kTrue}}},
                         {"B", "2", {{"input/x", off(0.5f), kTrue}, {"output/y", {}, kTrue}}},
                         {"C", "3", {{"output/y", off(0.5f), kTrue}}}});
  const auto& ops = in(sample).operators;
  EXPECT_EQ(ops[0].origin, Origin::unknown);
  EXPECT_EQ(ops[0].explanation, "none of its inputs was compared");
  EXPECT_EQ(ops[1].origin, Origin::unknown);
  EXPECT_EQ(ops[1].explanation, "none of its outputs was compared");
  EXPECT_EQ(ops[2].explanation, "it has no inputs in the dumps");
}

TEST(Analysis, SaysThatInputsAreMissing) {
  auto sample = compare(
      {{"A",
        "1",
        {{"input/w", {}, kTrue}, {"input/x", kTrue, kTrue}, {"output/y", off(0.5f), kTrue}}}});
  EXPECT_EQ(in(sample).operators[0].explanation, "its inputs agree; 1 input was not compared");
}

TEST(Analysis, RanksOperators) {
  auto sample = compare({call("1", 0, 0), call("2", 0.3f, 0.3f), call("3", 0, 0.1f),
                         call("4", 0, 0.2f), call("5", 0.1f, 0.9f)});
  EXPECT_EQ(first_departure(in(sample)), 1u);
  // Introduced or amplified by error (5: 0.9, 4: 0.2, 3: 0.1), then inherited.
  EXPECT_THAT(worst_operators(in(sample)), ElementsAre(4, 3, 2, 1));
  EXPECT_THAT(amplifying_operators(in(sample)), ElementsAre(4));
  auto clean = compare({call("1", 0, 0)});
  EXPECT_EQ(first_departure(in(clean)), std::nullopt);
}

TEST(Analysis, CountsAndExitCodes) {
  auto failing =
      compare({call("1", 0, 0), call("2", 0, 0.1f), {"A", "3", {{"input/x", kTrue, {}}}}});
  const ComparisonCounts counts = count(in(failing));
  EXPECT_EQ(counts.passed, 3);
  EXPECT_EQ(counts.failed, 1);
  EXPECT_EQ(counts.not_compared, 1);
  EXPECT_EQ(counts.compared(), 4);
  EXPECT_EQ(counts.introduced, 1);
  EXPECT_EQ(exit_code(in(failing), FailOn::any), 1);
  EXPECT_EQ(exit_code(in(failing), FailOn::first), 1);
  EXPECT_EQ(exit_code(in(failing), FailOn::none), 0);
  auto inherited = compare({call("1", 0.1f, 0.1f)});
  EXPECT_EQ(exit_code(in(inherited), FailOn::any), 1);
  EXPECT_EQ(exit_code(in(inherited), FailOn::first), 0);
  auto clean = compare({call("1", 0, 0)});
  EXPECT_EQ(exit_code(in(clean), FailOn::any), 0);
  in(clean).is_partial = true;
  EXPECT_EQ(exit_code(in(clean), FailOn::any), 3);
  auto nothing = compare({{"A", "3", {{"input/x", kTrue, {}}}}});
  EXPECT_EQ(exit_code(in(nothing), FailOn::any), 4);
  EXPECT_EQ(verdict_of(count(in(nothing))), Verdict::not_compared);
}

TEST(Analysis, FailOnIsReadStrictly) {
  EXPECT_EQ(parse_fail_on("first"), FailOn::first);
  EXPECT_THROW(parse_fail_on("all"), Error);
}

TEST(Analysis, GroupsReasons) {
  auto sample = compare({{"A", "1", {{"input/x", kTrue, {}}, {"output/y", {}, kTrue}}},
                         {"B", "2", {{"input/x", {}, kTrue}}}});
  const auto groups = by_reason(in(sample), Verdict::not_compared);
  ASSERT_EQ(groups.size(), 2u);
  EXPECT_EQ(groups[0].reason, "only in gpu.h5");
  EXPECT_EQ(groups[0].tensors.size(), 2u);
  EXPECT_EQ(groups[1].reason, "only in npu.h5");
}

TEST(BuildComparison, OnlyKeepsOperatorsAndPaths) {
  const auto mine =
      compare_tests::npu({{"A", "1", {"input/x", "output/y"}}, {"B", "2", {"output/y"}}});
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
  EXPECT_THAT(kept("output"), ElementsAre("/A/1/output/y", "/B/2/output/y"));
}

TEST(BuildComparison, UnreachedAndUnreadablePairsAreNotCompared) {
  auto sample = compare({call("1", 0, 0)});
  TensorResult result = in(sample).operators[0].tensors[0];
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

TEST(BuildComparison, CrossCheckDecidesUnderItsStandardOnly) {
  const auto measures =
      compare_tests::measured({1.5f, 2}, {1, 2}, compare_tests::standard("mixed"));
  const auto exact = compare_tests::measured({1, 2}, {1, 2}, compare_tests::standard("mixed"));
  auto mixed = compare({call("1", 0, 0)});
  TensorResult& first = in(mixed).operators[0].tensors[0];
  first.standard = compare_tests::standard("mixed");
  add_cross_check(first, measures, exact);
  EXPECT_EQ(first.judgement.verdict, Verdict::passed);
  EXPECT_NE(first.cross_check, nullptr);
  auto crossed = compare({call("1", 0, 0)}, "cross-check");
  TensorResult& second = in(crossed).operators[0].tensors[0];
  EXPECT_EQ(second.judgement.reason, "not held to a golden file");
  add_cross_check(second, measures, exact);
  EXPECT_EQ(second.judgement.verdict, Verdict::failed);
}

}  // namespace
}  // namespace opbench
