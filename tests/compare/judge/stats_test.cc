#include "compare/judge/stats.h"

#include <gmock/gmock.h>

#include <cmath>
#include <limits>

#include "compare/standard/standards.h"
#include "compare/standard/ulp.h"

namespace opbench {

using testing::HasSubstr;

constexpr double kInf = std::numeric_limits<double>::infinity();
const Tolerance kFp32{0x1p-10, 0x1p-16, 0.01, 32, 0.99};  // mixed_tolerance(DType::fp32)

Stats stats_of(const std::vector<double>& actual, const std::vector<double>& expected) {
  return measure(DType::fp32, kFp32, 0, actual, expected);
}

TEST(Ulp, CountsRepresentableNumbers) {
  EXPECT_EQ(ulp_distance(DType::fp32, 1.0, 1.0 + 0x1p-23), 1);
  EXPECT_EQ(ulp_distance(DType::fp32, 1.0, 1.0 - 0x1p-24), 1) << "closer below a power of two";
  EXPECT_EQ(ulp_distance(DType::fp16, 1.0, 1.0 + 0x1p-9), 2);
  EXPECT_EQ(ulp_distance(DType::bf16, 1.0, 1.0 + 0x1p-7), 1);
  EXPECT_EQ(ulp_distance(DType::fp32, 0x1p-149, -0x1p-149), 2) << "through zero";
  EXPECT_EQ(ulp_distance(DType::fp32, 0.0, -0.0), 0);
  EXPECT_EQ(ulp_distance(DType::int32, 7, 4), 3);
}

// Five elements by hand: errors 0, 0.25, 0, 1, 0; worst ULP at index 3: 1/2^-21 = 2097152 steps of
// 2^-21 between 4 and 5.
TEST(Stats, HandComputed) {
  const Stats stats = stats_of({1, 2.25, 0, 5, -3}, {1, 2, 0, 4, -3});
  EXPECT_EQ(stats.count, 5);
  EXPECT_EQ(stats.inside, 3);
  EXPECT_EQ(stats.zeros, 1);
  EXPECT_EQ(stats.max_abs, 1);
  EXPECT_EQ(stats.worst_index, 3);
  EXPECT_EQ(stats.worst_actual, 5);
  EXPECT_EQ(stats.worst_expected, 4);
  EXPECT_EQ(stats.max_ulp, 0x1p21);
  EXPECT_DOUBLE_EQ(stats.mean_ulp(), (0x1p21 + 0x1p20) / 5) << "0.25/2^-22 = 2^20";
  EXPECT_DOUBLE_EQ(stats.min_tolerance, 0.2) << "1/(1+4) > 0.25/(1+2)";
  EXPECT_EQ(stats.expected_min, -3);
  EXPECT_EQ(stats.expected_max, 4);
}

TEST(Stats, RoundsTheExpectedValueFirst) { EXPECT_EQ(stats_of({1}, {1 + 0x1p-26}).max_ulp, 0); }

TEST(Stats, NonfiniteValuesMustCoincide) {
  const double nan = std::nan("");
  EXPECT_EQ(stats_of({nan, kInf, -kInf}, {nan, kInf, -kInf}).nonfinite_mismatches, 0);
  EXPECT_EQ(stats_of({nan, kInf, 1, kInf}, {1, -kInf, kInf, nan}).nonfinite_mismatches, 4);
  EXPECT_EQ(stats_of({1, nan}, {1, 1}).worst_index, 1);
}

TEST(Stats, MergeIsMeasuringTheWhole) {
  const std::vector<double> actual = {1, 2.5, std::nan(""), 4, kInf, 6, 0, 8.125, 9};
  const std::vector<double> expected = {1, 2, 3, 4, kInf, 6, 0, 8, 9};
  const Stats whole = stats_of(actual, expected);
  for (std::size_t cut = 0; cut <= actual.size(); ++cut) {
    const std::span a(actual), e(expected);
    Stats merged = measure(DType::fp32, kFp32, 0, a.first(cut), e.first(cut));
    merged.merge(measure(DType::fp32, kFp32, static_cast<std::int64_t>(cut), a.subspan(cut),
                         e.subspan(cut)));
    EXPECT_EQ(merged.count, whole.count);
    EXPECT_EQ(merged.inside, whole.inside);
    EXPECT_EQ(merged.zeros, whole.zeros);
    EXPECT_EQ(merged.nonfinite, whole.nonfinite);
    EXPECT_EQ(merged.nonfinite_mismatches, whole.nonfinite_mismatches);
    EXPECT_EQ(merged.max_ulp, whole.max_ulp);
    EXPECT_EQ(merged.sum_ulp, whole.sum_ulp);
    EXPECT_EQ(merged.min_tolerance, whole.min_tolerance);
    EXPECT_EQ(merged.worst_index, whole.worst_index);
    EXPECT_EQ(merged.expected_min, whole.expected_min);
    EXPECT_EQ(merged.expected_max, whole.expected_max);
  }
}

TEST(Judge, PassesWithinTolerance) {
  const Judgement judgement = judge(stats_of({1, 2}, {1, 2 + 0x1p-11}), kFp32);
  EXPECT_EQ(judgement.verdict, Verdict::passed);
  EXPECT_EQ(judgement.reason, "");
}

TEST(Judge, FailsWhenMoreThanOnePercentIsOutside) {
  std::vector<double> actual(200, 1), expected(200, 1);
  expected[0] = 2;  // not constant
  actual[0] = 2;
  actual[1] = actual[2] = 1.005;  // outside tolerance, inside the limit: 1 %
  EXPECT_EQ(judge(stats_of(actual, expected), kFp32).verdict, Verdict::passed);
  actual[3] = 1.005;
  const Judgement judgement = judge(stats_of(actual, expected), kFp32);
  EXPECT_EQ(judgement.verdict, Verdict::failed);
  EXPECT_THAT(judgement.reason, HasSubstr("98.5% inside tolerance, 99% needed; element 1: 1.00"));
}

TEST(Judge, FailsOneElementBeyondTheLimit) {
  std::vector<double> actual(1000, 1), expected(1000, 1);
  expected[0] = actual[0] = 2;
  actual[500] = 1.02;
  const Judgement judgement = judge(stats_of(actual, expected), kFp32);
  EXPECT_EQ(judgement.verdict, Verdict::failed);
  EXPECT_THAT(judgement.reason, HasSubstr("element 500"));
}

TEST(Judge, ForgivesLargeNumbersWithinUlp) {
  const std::vector<double> expected = {1e6, 2e6};
  EXPECT_EQ(judge(stats_of({1e6 + 1, 2e6}, expected), kFp32).verdict, Verdict::passed)
      << "off by more than the limit, but by 16 ULP";
}

TEST(Judge, MistrustsWhatProvesLittle) {
  const auto verdict = [](const std::vector<double>& values) {
    return judge(stats_of(values, values), kFp32);
  };
  EXPECT_EQ(verdict({}).verdict, Verdict::mistrusted);
  EXPECT_EQ(verdict({2, 2, 2}).reason, "constant output 2");
  EXPECT_EQ(verdict({kInf, std::nan("")}).reason, "nothing but NaN and Inf expected");
  std::vector<double> sparse(100, 0);
  sparse[0] = 1;
  EXPECT_EQ(verdict(sparse).reason, "99% zeros expected");
  EXPECT_EQ(verdict({2}).verdict, Verdict::passed) << "a single element is always constant";
}

TEST(Judge, ExactMeansBitForBit) {
  const Stats stats =
      measure(DType::int32, Tolerance{}, 0, std::vector<double>{1, 2}, std::vector<double>{1, 3});
  EXPECT_EQ(judge(stats, Tolerance{}).verdict, Verdict::failed);
}

// The published numbers of the mixed standard.
TEST(MixedTolerance, PublishedNumbers) {
  EXPECT_EQ(mixed_tolerance(DType::fp16), (Tolerance{0x1p-9, 0x1p-9, 0.1, 32, 0.99}));
  EXPECT_EQ(mixed_tolerance(DType::bf16), (Tolerance{0x1p-6, 0x1p-6, 1, 32, 0.99}));
  EXPECT_EQ(mixed_tolerance(DType::fp32), (Tolerance{0x1p-10, 0x1p-16, 0.01, 32, 0.99}));
  EXPECT_EQ(mixed_tolerance(DType::int64), Tolerance{});
}

TEST(MeasureBits, SeesWhatValuesDoNotShow) {
  const std::uint32_t expected[] = {0x00000000, 0x7FC00001, 0x3F800000, 0x40000000};
  const std::uint32_t zero_sign[] = {0x80000000, 0x7FC00001, 0x3F800000, 0x40000000};
  const std::uint32_t payload[] = {0x00000000, 0x7FC00002, 0x3F800000, 0x40000000};
  const auto measured = [&](const std::uint32_t* actual, bool any_nan) {
    return measure_bits(DType::fp32, any_nan, {100, 4}, actual, expected);
  };
  EXPECT_EQ(measured(expected, false).bit_mismatches, 0);
  EXPECT_EQ(measured(expected, false).nonfinite, 1);
  EXPECT_EQ(measured(zero_sign, true).bit_mismatches, 1) << "+0 for -0";
  EXPECT_EQ(measured(zero_sign, true).worst_index, 100);
  EXPECT_EQ(measured(payload, false).bit_mismatches, 1);
  EXPECT_EQ(measured(payload, true).bit_mismatches, 0) << "a conversion may choose the payload";
  const Judgement judgement = judge(measured(zero_sign, false), {});
  EXPECT_EQ(judgement.verdict, Verdict::failed);
  EXPECT_THAT(judgement.reason, testing::HasSubstr("1 of 4 elements differ in their bits"));
}

}  // namespace opbench
