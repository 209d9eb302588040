#include "judge/judge.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "judge/compare_values.h"
#include "judge/standards.h"
#include "tests/compare/comparison_support.h"
#include "tests/support/non_finite.h"

namespace opbench {
namespace {

using compare_tests::measured;
using compare_tests::standard;
using testing::HasSubstr;

Judgement judged(const std::string& typed, const std::vector<float>& actual,
                 const std::vector<float>& expected, DType dtype = DType::fp32) {
  const Standard held_to = standard(typed);
  return judge(measured(actual, expected, held_to).stats, held_to, {{std::ssize(actual)}, dtype});
}

// The numbers 1 to n, of which `off` numbers are larger by `error`.
std::vector<float> rising(int count, int off = 0, float error = 0) {
  std::vector<float> values;
  for (int i = 0; i < count; ++i) {
    values.push_back(static_cast<float>(i + 1) + (i < off ? error : 0));
  }
  return values;
}

TEST(Judge, MixedPassesWhatIsClose) {
  // 1 + 2^-11 is within 2^-16 * 2 + 2^-10 * 1.
  const Judgement close = judged("mixed", {1 + 0x1p-11f, 2}, {1, 2});
  EXPECT_EQ(close.verdict, Verdict::passed);
  EXPECT_EQ(close.reason, "");
}

TEST(Judge, MixedNeeds99Percent) {
  // The scale is 75. An error of 0.005 at 1 exceeds 2^-16 * 75 + 2^-10 (0.0021) and is below the
  // limit of 0.75.
  EXPECT_EQ(judged("mixed", rising(100, 1, 0.005f), rising(100)).verdict, Verdict::passed);
  // The error at 2 also exceeds its limit of 0.0031, so 98 of 100 elements are within.
  const Judgement two = judged("mixed", rising(100, 2, 0.005f), rising(100));
  EXPECT_EQ(two.verdict, Verdict::failed);
  // 0.005 / (2 + 75), with a scale of 75.
  EXPECT_EQ(two.reason,
            "98% inside tolerance, 99% needed; worst at [1]: 2.00500011, expected 2; all elements "
            "would pass with a tolerance of 6.6e-05");
}

TEST(Judge, MixedAllowsNothingBeyondTheLimit) {
  // The limit is a hundredth of the scale of 750.
  const Judgement one = judged("mixed", rising(1000, 1, 8.0f), rising(1000));
  EXPECT_EQ(one.verdict, Verdict::failed);
  EXPECT_EQ(
      one.reason,
      "1 of 1000 elements differ by more than 7.5 and 32 ULP; worst at [0]: 9, expected 1; all "
      "elements would pass with a tolerance of 0.011");
  EXPECT_EQ(judged("mixed", rising(1000, 1, 7.0f), rising(1000)).verdict, Verdict::passed);
}

// Gradients are small. The verdict must not depend on the unit of the values.
TEST(Judge, MixedFollowsTheScale) {
  for (const float unit : {0x1p-60f, 0x1p-12f, 1.0f, 0x1p14f}) {
    const auto in_unit = [unit](std::vector<float> values) {
      for (float& value : values) value *= unit;
      return values;
    };
    const auto verdict = [&](float error, int off) {
      return judged("mixed", in_unit(rising(100, off, error)), in_unit(rising(100))).verdict;
    };
    EXPECT_EQ(verdict(0.001f, 100), Verdict::passed) << unit;
    EXPECT_EQ(verdict(0.1f, 100), Verdict::failed) << unit;
    EXPECT_EQ(verdict(0.7f, 1), Verdict::passed) << unit;
    EXPECT_EQ(verdict(0.8f, 1), Verdict::failed) << unit;
  }
}

// fp16 gradients with a deviation of 3e-4, as in a step of mixed precision.
TEST(Judge, SmallGradientsThatAreWrongFail) {
  std::vector<float> right, negated, twice, zero, turned;
  for (int i = 0; i < 1000; ++i) right.push_back(3e-4f * std::sin(static_cast<float>(7 * i)));
  for (std::size_t i = 0; i < right.size(); ++i) {
    negated.push_back(-right[i]);
    twice.push_back(2 * right[i]);
    zero.push_back(0);
    turned.push_back(right[(i + 1) % right.size()]);
  }
  Standard held_to = standard_for(builtin_standards(), {}, "", DType::fp16);
  for (const auto* wrong : {&negated, &twice, &zero, &turned}) {
    const PairStats stats = measured(*wrong, right, held_to).stats;
    EXPECT_EQ(judge(stats, held_to, {{1000}, DType::fp32}).verdict, Verdict::failed);
  }
  EXPECT_EQ(judge(measured(right, right, held_to).stats, held_to, {{1000}, DType::fp32}).verdict,
            Verdict::passed);
}

// Overflowed values must not hide errors of all other values.
TEST(Judge, AFewLargeValuesDoNotWidenTheTolerance) {
  std::vector<float> expected(1000, 3e-4f);
  expected[1] = 2e-4f;
  std::vector<float> actual(1000, -3e-4f);
  for (std::size_t i = 0; i < 1000; i += 5) actual[i] = expected[i] = 65504;
  EXPECT_EQ(judged("mixed", actual, expected).verdict, Verdict::failed);
}

TEST(Judge, FormulasSayWhatAVerdictIsHeldTo) {
  EXPECT_EQ(formula(standard("mixed"), 0.25),
            "|a-e| <= 2^-16*0.25 + 2^-10*|e| for 99%, all within 0.01*0.25, 2^-7*min(|e|, 1) or 32 "
            "ULP");
  EXPECT_EQ(formula(standard("mixed"), 4),
            "|a-e| <= 2^-16*4 + 2^-10*|e| for 99%, all within 0.01*4 or 32 ULP");
  EXPECT_EQ(formula(standard("exact"), 1), "a = e");
  EXPECT_EQ(formula(standard("statistical"), 1),
            "|a-e|/max(|e|, 1e-07): mean <= 2^-13, maximum <= 0.00122");
  EXPECT_EQ(formula(standard("cosine"), 1), "cosine >= 0.99");
  EXPECT_EQ(formula(standard("prec=1e-4"), 1), "|a-e| <= 0.0001");
}

TEST(Judge, MixedForgivesLargeErrorsOfFewUlp) {
  // 2^20 + 1 is 8 ULP (of 1/8) from 2^20, so an error of 1 is small in fp32.
  EXPECT_EQ(judged("mixed", {0x1p20f + 1, 1}, {0x1p20f, 1}).verdict, Verdict::passed);
}

// A softmax of large logits has many tiny shares. The largest shares may also differ by 1/128 of
// themselves.
TEST(Judge, MixedHoldsLargeElementsToThemselves) {
  std::vector<float> expected(1000, 1e-6F), actual = expected;
  expected[3] = actual[3] = 0.5F;
  actual[3] += 0.0038F;
  EXPECT_EQ(judged("mixed", actual, expected).verdict, Verdict::passed);
  actual[3] += 0.0002F;
  const Judgement beyond = judged("mixed", actual, expected);
  EXPECT_EQ(beyond.verdict, Verdict::failed);
  EXPECT_THAT(beyond.reason, HasSubstr("1 of 1000 elements differ by more than 1e-08, 0.7812% of "
                                       "themselves and 32 ULP; worst at [3]"));
  // 1/128 of the element applies up to 1. Above 1, the limit of the standard applies.
  expected[3] = 100;
  actual[3] = 100.02F;
  EXPECT_EQ(judged("mixed", actual, expected).verdict, Verdict::failed);
}

TEST(Judge, WholeNumbersBeyond53BitsAreToldApart) {
  const std::vector<std::int64_t> expected = {std::int64_t{1} << 53, 5};
  std::vector<std::int64_t> actual = expected;
  ++actual[0];
  const Standard exact = standard("exact", DType::int64);
  const ValueComparison found =
      compare_values(actual.data(), DType::int64, expected.data(), DType::int64, 2, exact);
  EXPECT_EQ(found.judgement.reason,
            "1 of 2 elements differ; worst at [0]: differs by 1 from 9007199254740992");
}

TEST(Judge, NoToleranceHoldsWhatIsNotZero) {
  const Judgement found = judged("mixed", {1e-9F, 0}, {0, 0});
  EXPECT_EQ(found.verdict, Verdict::failed);
  EXPECT_THAT(found.reason, testing::Not(HasSubstr("would hold")));
  EXPECT_EQ(measured({1e-9F, 0}, {0, 0}, standard("mixed")).stats.tolerance_of_all(), HUGE_VAL);
}

TEST(Judge, ASharesDigitsTellItFromTheOneThatIsNeeded) {
  std::vector<float> expected(100001, 1.0f), actual = expected;
  for (std::size_t i = 0; i < 1001; ++i) actual[i] += 0.009f;
  const Judgement judgement = judged("mixed", actual, expected);
  EXPECT_EQ(judgement.verdict, Verdict::failed);
  // 99000 / 100001.
  EXPECT_THAT(judgement.reason, HasSubstr("98.9990"));
}

TEST(Judge, AnInfWhereFp16EndsIsSaidToBe) {
  EXPECT_THAT(judged("mixed", {kInf, 1}, {70000, 1}, DType::fp16).reason,
              HasSubstr("first at [0]: inf, expected 70000, which is beyond fp16"));
  EXPECT_THAT(judged("mixed", {kInf, 1}, {60000, 1}, DType::fp16).reason,
              testing::EndsWith("first at [0]: inf, expected 60000"));
  for (const DType other : {DType::fp32, DType::bf16}) {
    EXPECT_THAT(judged("mixed", {kInf, 1}, {3e38f, 1}, other).reason,
                testing::EndsWith("first at [0]: inf, expected 3.00000001e+38"));
  }
}

// The largest error, 40 at 2^24, is 20 ULP and passes. 16 at 4 fails.
TEST(Judge, NamesAnElementThatBreaksTheRule) {
  std::vector<float> expected = rising(1000), actual = expected;
  expected[10] = 0x1p24f;
  actual[10] = 0x1p24f + 40;
  actual[3] = 4 + 16;
  const Standard held_to = standard("mixed");
  const PairStats beyond = measured(actual, expected, held_to).stats;
  EXPECT_EQ(beyond.worst_abs.index, 10);
  EXPECT_THAT(judge(beyond, held_to, {{1000}, DType::fp32}).reason,
              HasSubstr("1 of 1000 elements differ by more than"));
  EXPECT_THAT(judge(beyond, held_to, {{1000}, DType::fp32}).reason,
              HasSubstr("worst at [3]: 20, expected 4;"));
  EXPECT_EQ(named_element(beyond, held_to).index, 3);
}

TEST(Judge, NamesAnElementThatIsNotInside) {
  std::vector<float> expected = rising(100), actual = rising(100, 2, 0.05f);
  expected.push_back(1000);
  actual.push_back(1000.5f);
  const Judgement share = judged("mixed", actual, expected);
  EXPECT_THAT(share.reason, testing::StartsWith("98.02% inside tolerance, 99% needed; worst at "));
  EXPECT_THAT(share.reason, HasSubstr("worst at [0]: 1.04999995, expected 1;"));
}

TEST(Judge, ExactFindsOneUlp) {
  EXPECT_EQ(judged("exact", {1, 2, 3}, {1, 2, 3}).verdict, Verdict::passed);
  const Judgement off = judged("exact", {1, 2, std::nextafter(3.0f, 4.0f)}, {1, 2, 3});
  EXPECT_EQ(off.verdict, Verdict::failed);
  EXPECT_EQ(off.reason, "1 of 3 elements differ; worst at [2]: 3.00000024, expected 3");
}

TEST(Judge, StatisticalLimitsTheMean) {
  // fp32 allows a mean of 2^-13 = 0.000122. Each element has a relative error of 0.001.
  const Judgement mean = judged("statistical", {1.001f, 2.002f}, {1, 2});
  EXPECT_EQ(mean.verdict, Verdict::failed);
  EXPECT_THAT(mean.reason, HasSubstr("mean relative error 0.001, at most 0.0001221 allowed"));
}

TEST(Judge, StatisticalLimitsTheMaximum) {
  // One of 1000 elements has an error of 0.01, which exceeds 10 * 2^-13 = 0.00122. The mean is
  // 0.00001.
  const Judgement one = judged("statistical", rising(1000, 1, 0.01f), rising(1000));
  EXPECT_EQ(one.verdict, Verdict::failed);
  EXPECT_THAT(one.reason, HasSubstr("maximum relative error 0.01, at most 0.001221 allowed"));
  EXPECT_THAT(one.reason, HasSubstr("worst at [0]: 1.00999999, expected 1"));
}

TEST(Judge, StatisticalTakesZerosRelativeToTheFloor) {
  // 1e-12 at an expected 0 gives 1e-12 / 1e-7 = 1e-5.
  EXPECT_EQ(judged("statistical", {1e-12f, 1, 2}, {0, 1, 2}).verdict, Verdict::passed);
}

TEST(Judge, Cosine) {
  EXPECT_EQ(judged("cosine", {1, 2, 3}, {2, 4, 6}).verdict, Verdict::passed);
  // The cosine of (1,0) and (1,1) is 1/sqrt(2).
  const Judgement wrong = judged("cosine", {1, 0}, {1, 1});
  EXPECT_EQ(wrong.verdict, Verdict::failed);
  EXPECT_THAT(wrong.reason, HasSubstr("cosine 0.707106781, at least 0.99 needed"));
}

TEST(Judge, PrecIsAbsolute) {
  EXPECT_EQ(judged("prec=0.25", {1.25f, 2}, {1, 2}).verdict, Verdict::passed);
  const Judgement wrong = judged("prec=0.25", {1.5f, 2}, {1, 2});
  EXPECT_EQ(wrong.verdict, Verdict::failed);
  EXPECT_EQ(wrong.reason,
            "1 of 2 elements differ by more than 0.25; worst at [0]: 1.5, expected 1");
}

TEST(Judge, NanAndInfMustCoincideInAllStandards) {
  for (const char* typed : {"mixed", "exact", "statistical", "cosine", "prec=1000"}) {
    SCOPED_TRACE(typed);
    EXPECT_EQ(judged(typed, {1, kNan, 2, -kInf}, {1, kNan, 2, -kInf}).verdict, Verdict::passed);
    const Judgement nan = judged(typed, {1, kNan, 2}, {1, 3, 2});
    EXPECT_EQ(nan.verdict, Verdict::failed);
    EXPECT_EQ(nan.reason, "1 NaN on one side only, first at [1]: NaN, expected 3");
    const Judgement both = judged(typed, {kInf, 1, 2}, {-kInf, kNan, 2});
    EXPECT_EQ(both.verdict, Verdict::failed);
    EXPECT_EQ(both.reason, "1 NaN and 1 Inf on one side only, first at [0]: inf, expected -inf");
  }
}

TEST(Judge, MistrustsWhatProvesLittle) {
  EXPECT_EQ(judged("mixed", {}, {}).reason, "no elements to compare");
  EXPECT_EQ(judged("mixed", {kNan, kInf}, {kNan, kInf}).reason, "nothing but NaN and Inf expected");
  EXPECT_EQ(judged("exact", {2, 2}, {2, 2}).reason, "constant 2 expected");
  std::vector<float> zeros(100, 0.0f);
  zeros[0] = 1;
  EXPECT_EQ(judged("mixed", zeros, zeros).reason, "99% zeros expected");
  for (const auto& values : {std::vector<float>{}, {kNan, kInf}, {2, 2}, zeros}) {
    EXPECT_EQ(judged("mixed", values, values).verdict, Verdict::mistrusted);
  }
  EXPECT_EQ(judged("mixed", {2}, {2}).verdict, Verdict::passed);
}

TEST(Judge, PlacesAreOfTheShape) {
  std::vector<float> expected = rising(24), actual = expected;
  actual[17] = 0;  // 17 = 1*12 + 1*4 + 1
  const Standard exact = standard("exact");
  const Judgement judgement =
      judge(measured(actual, expected, exact).stats, exact, {{2, 3, 4}, DType::fp32});
  EXPECT_EQ(judgement.reason, "1 of 24 elements differ; worst at [1,1,1]: 0, expected 18");
  EXPECT_EQ(index_text({}, 0), "[]");
  EXPECT_EQ(index_text({1}, 0), "[0]");
  EXPECT_EQ(index_text({2, 0}, 0), "[0,0]");
}

TEST(Judge, CrossCheckComparesErrorsOfBoth) {
  const Standard limits = standard("cross-check=L1");
  const std::vector<float> golden = {1, 2, 3, 4};
  const PairStats gpu = measured({1.001f, 2, 3, 4}, golden, limits).stats;
  const CrossCheck same = judge_cross_check(gpu, gpu, limits, {{4}, DType::fp32});
  EXPECT_EQ(same.judgement.verdict, Verdict::passed);
  EXPECT_DOUBLE_EQ(same.mare, 1);
  EXPECT_DOUBLE_EQ(same.rmse, 1);
  // Twice the error is within L0's limits (10, 2, 2) and exceeds L1's mean (1.5).
  const PairStats npu = measured({1.002f, 2, 3, 4}, golden, limits).stats;
  const CrossCheck wrong = judge_cross_check(npu, gpu, limits, {{4}, DType::fp32});
  EXPECT_EQ(wrong.judgement.verdict, Verdict::failed);
  EXPECT_THAT(wrong.judgement.reason, HasSubstr("mean relative error is 2 times the GPU's, at most "
                                                "1.5 allowed"));
  EXPECT_THAT(wrong.judgement.reason, HasSubstr("worst at [0]: 1.00199997, expected 1"));
  EXPECT_EQ(judge_cross_check(gpu, npu, limits, {{4}, DType::fp32}).judgement.verdict,
            Verdict::passed);
}

TEST(Judge, CrossCheckHoldsNobodyToBeMoreExactThanARounding) {
  const Standard limits = standard("cross-check=L2");
  const std::vector<float> golden = {1, 2, 3, 4};
  const PairStats exact = measured(golden, golden, limits).stats;
  const CrossCheck none = judge_cross_check(exact, exact, limits, {{4}, DType::fp32});
  EXPECT_EQ(none.judgement.verdict, Verdict::passed);
  EXPECT_EQ(none.mare, 0);
  // An ULP at 1 is 2^-23, twice the rounding error 2^-24. The mean over four elements is half of
  // 2^-24.
  const PairStats ulp = measured({1 + 0x1p-23f, 2, 3, 4}, golden, limits).stats;
  const CrossCheck one = judge_cross_check(ulp, exact, limits, {{4}, DType::fp32});
  EXPECT_DOUBLE_EQ(one.mare, 2);
  EXPECT_DOUBLE_EQ(one.mere, 0.5);
  EXPECT_EQ(one.judgement.verdict, Verdict::passed);
  const PairStats two = measured({1 + 0x1p-22f, 2, 3, 4}, golden, limits).stats;
  EXPECT_EQ(judge_cross_check(two, exact, limits, {{4}, DType::fp32}).judgement.verdict,
            Verdict::failed);
}

TEST(Judge, CrossCheckOfIntegersIsExactAndNanMustCoincideWithTheGolden) {
  const Standard whole = standard("cross-check", DType::int32);
  const PairStats off = measured({1, 2, 4}, {1, 2, 3}, whole).stats;
  const Judgement same_error = judge_cross_check(off, off, whole, {{3}, DType::int32}).judgement;
  EXPECT_EQ(same_error.verdict, Verdict::failed);
  EXPECT_THAT(same_error.reason, HasSubstr("1 of 3 elements differ"));
  const Standard limits = standard("cross-check");
  const PairStats nan = measured({1, 2, kNan}, {1, 2, 3}, limits).stats;
  const Judgement both = judge_cross_check(nan, nan, limits, {{3}, DType::fp32}).judgement;
  EXPECT_EQ(both.verdict, Verdict::failed);
  EXPECT_THAT(both.reason, HasSubstr("against the golden file"));
}

}  // namespace
}  // namespace opbench
