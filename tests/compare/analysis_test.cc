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
using compare_tests::kTrue;
using testing::ElementsAre;
using testing::HasSubstr;

// The true values, with an error in the last element that gives the relative error `error`.
std::vector<float> off(float error) { return {3, 4, 5 * error}; }

CallValues call(const std::string& seq, float input_error, float output_error) {
  return {"Op" + seq,
          seq,
          {{"input/x", off(input_error), kTrue}, {"output/y", off(output_error), kTrue}}};
}

Comparison& in(compare_tests::HandMade& sample) { return sample.comparison; }

TEST(Analysis, SaysWhatTheInputsTell) {
  auto sample =
      compare({call("1", 0, 0), call("2", 0, 0.1f), call("3", 0.1f, 0.1f), call("5", 0.5f, 0)});
  const auto& ops = in(sample).operators;
  EXPECT_EQ(ops[0].origin, Origin::none);
  EXPECT_EQ(ops[0].verdict, Verdict::passed);
  EXPECT_EQ(ops[1].origin, Origin::unknown);
  EXPECT_EQ(ops[1].explanation, "its inputs agree");
  EXPECT_EQ(ops[2].origin, Origin::unknown);
  EXPECT_EQ(ops[2].explanation, "1 of 1 inputs fail already");
  EXPECT_EQ(ops[3].origin, Origin::repaired);
  EXPECT_EQ(ops[3].verdict, Verdict::failed);
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

// The fp64 squares of these values are 0 or infinite.
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

// A constant input is trusted if it is equal in both dumps.
TEST(Analysis, InputsThatAreTheSameAreNotMistrusted) {
  const std::vector<float> same(5, 2.0F), zeros(5, 0.0F);
  const auto sample = compare(
      {{"A", "1", {{"input/x", same, same}, {"input/z", zeros, zeros}, {"output/y", same, same}}}});
  EXPECT_EQ(count(sample.comparison).mistrusted, 1) << "the output proves little";
  EXPECT_EQ(count(sample.comparison).passed, 2);
}

TEST(Analysis, InputsOfLoadModeAreTheExpectedOnes) {
  auto sample = compare({{"A", "1", {{"input/x", {}, kTrue}, {"output/y", off(0.5f), kTrue}}}});
  EXPECT_TRUE(in(sample).is_load_mode);
  const OperatorResult& op = in(sample).operators[0];
  EXPECT_EQ(op.origin, Origin::unknown);
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
  EXPECT_EQ(first_introduced(in(sample)), std::nullopt);
  in(sample).operators[2].origin = in(sample).operators[3].origin = Origin::introduced;
  in(sample).operators[4].origin = Origin::inherited;
  EXPECT_EQ(first_introduced(in(sample)), 2u);
  // Introduced errors come first, by size (4: 0.2, 3: 0.1). Then follow unknown (2) and inherited
  // errors, although the inherited one is 0.9.
  EXPECT_THAT(worst_operators(in(sample)), ElementsAre(3, 2, 1, 4));
  EXPECT_THAT(amplifying_operators(in(sample)), ElementsAre(4));
  auto clean = compare({call("1", 0, 0)});
  EXPECT_EQ(first_departure(in(clean)), std::nullopt);
}

// Random outputs differ, so a random operator cannot be first. An operator with a recorded mask is
// recomputed and can be.
TEST(Analysis, RandomOperatorsAreNeverFirst) {
  auto sample = compare({{"bernoulli", "1", {{"output/y", off(0.5f), kTrue}}},
                         {"Op", "2", {{"output/y", off(0.1f), kTrue}}}});
  EXPECT_EQ(first_departure(in(sample)), 1u);
  in(sample).operators[0].origin = Origin::introduced;
  EXPECT_EQ(first_departure(in(sample)), 0u);
}

TEST(Analysis, CountsAndExitCodes) {
  auto failing =
      compare({call("1", 0, 0), call("2", 0, 0.1f), {"A", "3", {{"input/x", kTrue, {}}}}});
  const ComparisonCounts counts = count(in(failing));
  EXPECT_EQ(counts.passed, 3);
  EXPECT_EQ(counts.failed, 1);
  EXPECT_EQ(counts.not_compared, 1);
  EXPECT_EQ(counts.compared(), 4);
  EXPECT_EQ(counts.unknown, 1);
  EXPECT_EQ(exit_code(in(failing), FailOn::any), 1);
  EXPECT_EQ(exit_code(in(failing), FailOn::first), 1);
  EXPECT_EQ(exit_code(in(failing), FailOn::introduced), 0);
  EXPECT_EQ(exit_code(in(failing), FailOn::none), 0);
  in(failing).operators[1].origin = Origin::introduced;
  EXPECT_EQ(exit_code(in(failing), FailOn::introduced), 1);
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
  EXPECT_EQ(parse_fail_on("introduced"), FailOn::introduced);
  EXPECT_THROW(parse_fail_on("all"), Error);
}

}  // namespace
}  // namespace opbench
