#include "judge/control.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "tests/evaluate.h"

namespace opbench {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

// Sixteen elements of 1. Fifteen have the error `error`; the last has the error `last`.
OutputError error_of(double error, double last) {
  OutputError sum;
  for (int i = 0; i < 15; ++i) sum.add(1 + error, 1);
  sum.add(1 + last, 1);
  return sum;
}
OutputError error_of(double error) { return error_of(error, error); }

}  // namespace

// 2 * 0.01 + 2^-7 is 0.0278 in bf16.
TEST(Control, TwiceTheErrorOfNativeAndARounding) {
  EXPECT_EQ(judge_by_control(error_of(0.027), error_of(0.01), DType::bf16).verdict,
            Verdict::passed);
  const Judgement failed = judge_by_control(error_of(0.029), error_of(0.01), DType::bf16);
  EXPECT_EQ(failed.verdict, Verdict::failed);
  EXPECT_THAT(failed.reason, StartsWith("relative error 0.029, at most 0.0278 allowed"));
}

// One of sixteen elements has an error of 0.03. The norm of 0.0075 is allowed, the largest error is
// not.
TEST(Control, TheLargestErrorCounts) {
  const Judgement failed = judge_by_control(error_of(0, 0.03), error_of(0.001, 0.01), DType::bf16);
  EXPECT_EQ(failed.verdict, Verdict::failed);
  EXPECT_THAT(failed.reason, StartsWith("largest error 0.03, at most 0.0278 allowed"));
}

TEST(Control, ABetterResultThanNativePasses) {
  EXPECT_EQ(judge_by_control(error_of(0), error_of(0.05), DType::fp32).verdict, Verdict::passed);
}

TEST(Control, IsInconclusiveWhereItProvesNothing) {
  const auto reason = [](const OutputError& error, const OutputError& control) {
    const Judgement found = judge_by_control(error, control, DType::fp32);
    EXPECT_EQ(found.verdict, Verdict::mistrusted);
    return found.reason;
  };
  EXPECT_THAT(reason(error_of(0), error_of(0.2)), HasSubstr("relative error of 0.2"));
  OutputError few;
  few.add(1, 1);
  EXPECT_EQ(reason(few, few), "inconclusive: 1 elements, 16 needed");
  OutputError overflowed = error_of(0);
  overflowed.add(INFINITY, 1);
  EXPECT_EQ(reason(error_of(0), overflowed), "inconclusive: native has 1 NaN or Inf");
}

TEST(Control, NaNWhereNativeHasNone) {
  OutputError error = error_of(0);
  error.add(NAN, 1);
  error.add(NAN, INFINITY);
  const Judgement failed = judge_by_control(error, error_of(0), DType::fp32);
  EXPECT_EQ(failed.verdict, Verdict::failed);
  EXPECT_THAT(failed.reason, StartsWith("1 NaN or Inf"));
}

// gelu of sixteen numbers. `native` runs on the inputs of the result.
TEST(Control, RunsNative) {
  const Problem gelu = problem_with(find_op("gelu"), {{16}}, {}, DType::fp32, Format::ND);
  std::vector<float> x(16), y(16);
  for (int i = 0; i < 16; ++i) {
    x[std::size_t(i)] = float(i) / 4 - 2;
    const double v = x[std::size_t(i)];
    y[std::size_t(i)] = float(0.5 * v * (1 + std::erf(v / std::sqrt(2.0))));
  }
  CallToJudge call{.problem = gelu};
  call.inputs = {x.data()};
  call.outputs = {y.data()};
  call.rule = parse_output_rule("control");
  EXPECT_EQ(judge_output(call, 0).judgement.verdict, Verdict::passed);
  y[3] += 1e-5F;
  EXPECT_EQ(judge_output(call, 0).judgement.verdict, Verdict::failed);
}

TEST(OutputRules, AsTheyAreTyped) {
  EXPECT_EQ(parse_output_rule("bound").kind, OutputRule::Kind::bound);
  EXPECT_EQ(parse_output_rule("control").kind, OutputRule::Kind::control);
  EXPECT_EQ(parse_output_rule("prec=1e-3").standard.absolute, 1e-3);
  EXPECT_THROW(parse_output_rule("cross-check"), Error);
  EXPECT_THROW(parse_output_rule("bounds"), Error);
  try {
    parse_output_rule("fp16-cube");
    FAIL();
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(),
                 "unknown standard 'fp16-cube'; allowed are bound, control, mixed, exact, "
                 "statistical, cosine and prec=X with a number X >= 0");
  }
}

// An error of 1e-4 at 1 exceeds the bound of fp32 and is within the published table.
TEST(OutputRules, AStandardDecidesInPlaceOfTheBound) {
  const Problem relu = problem_with(find_op("relu"), {{4}}, {}, DType::fp32, Format::ND);
  const std::vector<float> x = {1, 2, 3, 4}, y = {1.0001F, 2, 3, 4};
  CallToJudge call{.problem = relu};
  call.inputs = {x.data()};
  call.outputs = {y.data()};
  EXPECT_EQ(judge_output(call, 0).judgement.verdict, Verdict::failed);
  call.rule = parse_output_rule("mixed");
  EXPECT_EQ(judge_output(call, 0).judgement.verdict, Verdict::passed);
  call.rule = parse_output_rule("exact");
  EXPECT_EQ(judge_output(call, 0).judgement.verdict, Verdict::failed);
}

}  // namespace opbench
