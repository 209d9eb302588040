#include "judge/compare_values.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "judge/standards.h"
#include "tensor/half.h"
#include "tensor/parallel.h"
#include "tests/compare/comparison_support.h"
#include "tests/support.h"

namespace opbench {
namespace {

std::int64_t elements(const SampledBlocks& blocks) {
  std::int64_t sum = 0;
  for (std::int64_t i = 0; i < blocks.count(); ++i) sum += blocks.at(i).count;
  return sum;
}

}  // namespace

TEST(SampledBlocks, AreAllOfASmallTensor) {
  for (const Dims& shape : {Dims{0}, Dims{1}, Dims{3, 100'000}}) {
    const TensorDesc desc = describe(DType::fp32, shape);
    const SampledBlocks blocks(desc, 300'000);
    EXPECT_EQ(blocks.count(), block_count(desc));
    EXPECT_EQ(elements(blocks), desc.elements());
  }
}

TEST(SampledBlocks, SpreadOverALargeOneFromTheFirstToTheLast) {
  constexpr std::int64_t kMost = 300'000;
  for (const Format format : {Format::NCHW, Format::NC1HWC0}) {
    const TensorDesc desc = describe(DType::fp16, {64, 32, 30, 31}, format);
    const SampledBlocks blocks(desc, kMost), again(desc, kMost);
    EXPECT_LE(elements(blocks), kMost + 2 * largest_block(desc));
    EXPECT_GE(elements(blocks), kMost / 2);
    EXPECT_EQ(blocks.at(0).first, 0);
    const ElementRange last = blocks.at(blocks.count() - 1);
    EXPECT_EQ(last.first + last.count, desc.elements());
    const std::int64_t widest = 3 * desc.elements() / blocks.count();
    for (std::int64_t i = 1; i < blocks.count(); ++i) {
      EXPECT_GT(blocks.at(i).first, blocks.at(i - 1).first);
      EXPECT_LT(blocks.at(i).first - blocks.at(i - 1).first, widest);
      EXPECT_EQ(blocks.at(i).first, again.at(i).first);
    }
  }
}

using compare_tests::measured;
using testing::HasSubstr;

const Standard kMixed = {.kind = StandardKind::mixed,
                         .tolerance = {0x1p-10, 0x1p-16, 0.01, 32, 0.99}};

ValueComparison compared(const std::vector<float>& actual, const std::vector<float>& expected,
                         const Standard& standard = kMixed, const Dims& shape = {}) {
  return compare_values(actual.data(), DType::fp32, expected.data(), DType::fp32,
                        std::ssize(actual), standard, shape);
}

Standard bit_for_bit(Equality equality) {
  Standard standard{.kind = StandardKind::exact};
  standard.tolerance.equality = equality;
  return standard;
}

// Five elements by hand: errors 0, 0.25, 0, 1, 0. The largest is 1/2^-21 = 2^21 steps between 4 and
// 5, the other is 0.25/2^-22 = 2^20 steps.
TEST(CompareValues, HandComputed) {
  const PairStats stats = compared({1, 2.25, 0, 5, -3}, {1, 2, 0, 4, -3}).stats;
  EXPECT_EQ(stats.count, 5);
  EXPECT_EQ(stats.inside, 3);
  EXPECT_EQ(stats.unequal, 2);
  EXPECT_EQ(stats.expected.zero, 1);
  EXPECT_EQ(stats.worst_abs.error, 1);
  EXPECT_EQ(stats.worst_abs.index, 3);
  EXPECT_EQ(stats.max_ulp, 0x1p21);
  EXPECT_DOUBLE_EQ(stats.mean_ulp(), (0x1p21 + 0x1p20) / 5);
  EXPECT_DOUBLE_EQ(stats.min_tolerance, 0.2) << "1/(1+4) > 0.25/(1+2)";
  EXPECT_EQ(stats.expected.min, -3);
  EXPECT_EQ(stats.expected.max, 4);
}

TEST(CompareValues, PassesWithinTolerance) {
  const Judgement judgement = compared({1, 2}, {1, 2 + 0x1p-11f}).judgement;
  EXPECT_EQ(judgement.verdict, Verdict::passed);
  EXPECT_EQ(judgement.reason, "");
}

// The values are written with enough digits to differ: nine digits would be equal.
TEST(CompareValues, ValuesThatDifferAreNotWrittenAlike) {
  const std::vector<double> actual = {2.5167597100001}, expected = {2.51675971};
  const ValueComparison found = compare_values(actual.data(), DType::fp64, expected.data(),
                                               DType::fp64, 1, bit_for_bit(Equality::bits), {1});
  EXPECT_EQ(found.judgement.reason,
            "1 of 1 elements differ in their bits; worst at [0]: 2.5167597100001, expected "
            "2.5167597100000001");
}

TEST(CompareValues, ReasonsNameThePlaceInTheShape) {
  const std::vector<float> expected = {1, 2, 3, 4, 5, 6}, actual = {1, 2, 3, 4, 5, 7};
  EXPECT_EQ(
      compared(actual, expected, kMixed, {2, 3}).judgement.reason,
      "83.33% inside tolerance, 99% needed; worst at [1,2]: 7, expected 6; all elements would "
      "pass with a tolerance of 0.14");
  EXPECT_THAT(compared(actual, expected).judgement.reason, HasSubstr("worst at [5]: 7"));
  EXPECT_THAT(compared({2}, {1}).judgement.reason, HasSubstr("worst at []: 2, expected 1"));
}

TEST(CompareValues, NonfiniteValuesMustCoincide) {
  const float nan = std::nanf(""), inf = HUGE_VALF;
  EXPECT_EQ(compared({nan, inf, -inf}, {nan, inf, -inf}).stats.nonfinite_mismatches(), 0);
  const ValueComparison off = compared({nan, inf, 1, inf}, {1, -inf, inf, nan});
  EXPECT_EQ(off.stats.nonfinite_mismatches(), 4);
  EXPECT_EQ(off.judgement.reason,
            "2 NaN and 2 Inf on one side only, first at [0]: NaN, expected 1");
}

TEST(CompareValues, MistrustsWhatProvesLittle) {
  EXPECT_EQ(compared({2, 2, 2}, {2, 2, 2}).judgement.verdict, Verdict::mistrusted);
  EXPECT_EQ(compared({}, {}).judgement.reason, "no elements to compare");
  EXPECT_EQ(compared({2}, {2}).judgement.verdict, Verdict::passed) << "one is always constant";
}

TEST(CompareValues, BitsShowWhatValuesDoNot) {
  const std::uint32_t expected[] = {0x3F800000, 0x7FC00001, 0x00000000, 0x40000000};
  const std::uint32_t zero_sign[] = {0x3F800000, 0x7FC00001, 0x80000000, 0x40000000};
  const std::uint32_t payload[] = {0x3F800000, 0x7FC00002, 0x00000000, 0x40000000};
  const auto found = [&](const std::uint32_t* actual, Equality equality) {
    return compare_values(actual, DType::fp32, expected, DType::fp32, 4, bit_for_bit(equality));
  };
  for (const Equality equality : {Equality::value, Equality::bits_but_nan, Equality::bits}) {
    EXPECT_EQ(found(expected, equality).judgement.verdict, Verdict::passed);
  }
  EXPECT_EQ(found(zero_sign, Equality::value).stats.unequal, 0);
  EXPECT_EQ(found(zero_sign, Equality::bits_but_nan).stats.unequal, 1) << "-0 for +0";
  EXPECT_EQ(found(zero_sign, Equality::bits).judgement.reason,
            "1 of 4 elements differ in their bits; worst at [2]: -0, expected 0");
  EXPECT_EQ(found(payload, Equality::bits_but_nan).stats.unequal, 0) << "a payload is free";
  EXPECT_EQ(found(payload, Equality::bits).judgement.reason,
            "1 of 4 elements differ in their bits; worst at [1]: NaN, expected NaN");
}

// Elements after the first block count, too. A larger error is worse than different bits.
TEST(CompareValues, TheWorstOfAllBlocks) {
  std::vector<float> expected(10000, 1), actual = expected;
  expected[0] = actual[0] = 2;
  expected[10] = 0, actual[10] = -0.0f;
  const Standard bits = bit_for_bit(Equality::bits);
  EXPECT_EQ(compared(actual, expected, bits).stats.worst_abs.index, 10);
  actual[9000] = 1.5f;
  const ValueComparison found = compared(actual, expected, bits);
  EXPECT_EQ(found.stats.unequal, 2);
  EXPECT_EQ(found.stats.inside, 9998);
  EXPECT_EQ(found.judgement.reason,
            "2 of 10000 elements differ in their bits; worst at [9000]: 1.5, expected 1");
}

TEST(CompareValues, EveryDTypeAgainstItself) {
  for (const DType dtype : kAllDTypes) {
    SCOPED_TRACE(name(dtype));
    const double ones[] = {1, 0, 1, 0, 1}, other[] = {1, 0, 0, 0, 1};
    std::byte expected[40], actual[40];
    from_doubles(dtype, ones, 5, expected);
    from_doubles(dtype, other, 5, actual);
    const auto found = [&](const void* values) {
      return compare_values(values, dtype, expected, dtype, 5, bit_for_bit(Equality::bits));
    };
    EXPECT_EQ(found(expected).judgement.verdict, Verdict::passed);
    EXPECT_EQ(found(actual).stats.unequal, 1);
    EXPECT_EQ(found(actual).stats.worst_abs.index, 2);
    EXPECT_EQ(found(actual).stats.min_tolerance, 0.5) << "1/(1+1)";
  }
}

TEST(CompareValues, ErrorsCountInUnitsOfTheCoarserDType) {
  const bfloat16 actual[] = {to_bfloat16(1 + 0x1p-7f), to_bfloat16(2)};
  const float expected[] = {1, 2};
  const PairStats stats =
      compare_values(actual, DType::bf16, expected, DType::fp32, 2, kMixed).stats;
  EXPECT_EQ(stats.max_ulp, 1);
  EXPECT_EQ(stats.worst_abs.error, 0x1p-7);
}

// Three chunks give equal bits with one thread, with three threads, and measured as a pair of
// dumps.
TEST(CompareValues, SameBitsForAnyNumberOfThreadsAndAsInDumps) {
  std::vector<float> expected(5 << 19), actual;
  for (std::size_t i = 0; i < expected.size(); ++i) {
    expected[i] = std::sin(static_cast<float>(i));
    actual.push_back(expected[i] * (1 + 1e-6f * std::cos(static_cast<float>(3 * i))));
  }
  PairStats one, three;
  with_threads(1, [&] { one = compared(actual, expected).stats; });
  with_threads(3, [&] { three = compared(actual, expected).stats; });
  PairStats dumped = measured(actual, expected, kMixed).stats;
  for (PairStats* other : {&three, &dumped}) {
    EXPECT_EQ(one.sum_abs, other->sum_abs);
    EXPECT_EQ(one.sum_sq, other->sum_sq);
    EXPECT_EQ(one.sum_ulp, other->sum_ulp);
    EXPECT_EQ(one.cosine(), other->cosine());
    EXPECT_EQ(one.worst_abs.index, other->worst_abs.index);
  }
  EXPECT_EQ(one.min_tolerance, three.min_tolerance);
  EXPECT_GT(one.min_tolerance, 0);
}

// The largest quotient is compared with its definition, for every instruction set and place in a
// vector.
TEST(CompareValues, LeastToleranceByItsDefinition) {
  for (const std::size_t count : {1u, 7u, 4097u, 12345u}) {
    std::vector<float> expected, actual;
    double largest = 0;
    for (std::size_t i = 0; i < count; ++i) {
      expected.push_back(100 * std::sin(static_cast<float>(i)));
      actual.push_back(expected[i] * (1 + 1e-3f * std::cos(static_cast<float>(3 * i))));
      const double error = std::fabs(double{actual[i]} - double{expected[i]});
      largest = std::max(largest, error / (1 + std::fabs(double{expected[i]})));
    }
    on_every_isa([&] { EXPECT_EQ(compared(actual, expected).stats.min_tolerance, largest); });
  }
}

// Source: the published numbers of the mixed standard.
TEST(MixedTolerance, PublishedNumbers) {
  EXPECT_EQ(mixed_tolerance(DType::fp16), (Tolerance{0x1p-9, 0x1p-9, 0.1, 32, 0.99, 0, true}));
  EXPECT_EQ(mixed_tolerance(DType::bf16), (Tolerance{0x1p-6, 0x1p-6, 1, 32, 0.99, 0, true}));
  EXPECT_EQ(mixed_tolerance(DType::fp32), (Tolerance{0x1p-10, 0x1p-16, 0.01, 32, 0.99, 0, true}));
  EXPECT_EQ(mixed_tolerance(DType::int64), Tolerance{});
}

}  // namespace opbench
