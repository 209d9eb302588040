// Vector code for one block on few numbers by hand, with every instruction set.
#include "judge/measure_vector.h"

#include <gmock/gmock.h>

#include <cmath>
#include <memory>

#include "tests/support.h"

namespace opbench {
namespace {

/// Rules for fp32 whose relative errors are divided by 1 at least.
PairRules rules_with(const Tolerance& tolerance = {}) {
  const ValueKind fp32{StoredType::f32, DType::fp32};
  PairRules rules = pair_rules(fp32, fp32, tolerance);
  rules.smallest = 1;
  return rules;
}

/// Errors of 0, 2 and 3; room for a whole block, as vector code may read it.
template <class T>
struct Block {
  alignas(64) T actual[kMeasureBlock] = {1, 2, 3};
  alignas(64) T expected[kMeasureBlock] = {1, 4, 0};
};

template <class T>
class MeasureVector : public testing::Test {};
using Numbers = testing::Types<float, double>;
TYPED_TEST_SUITE(MeasureVector, Numbers);

}  // namespace

// Products 1 + 8 + 0, squares 1 + 4 + 9 and 1 + 16 + 0; relative errors 0, 2 / 4 and 3 / 1.
TYPED_TEST(MeasureVector, SumsByHand) {
  Tolerance tolerance;
  tolerance.rtol = 0.5;
  on_every_isa([&] {
    const auto block = std::make_unique<Block<TypeParam>>();
    const BlockSums sums = block_sums(rules_with(tolerance), 3, block->actual, block->expected);
    EXPECT_EQ(sums.actual, 6);
    EXPECT_EQ(sums.expected, 5);
    EXPECT_EQ(sums.actual_sq, 14);
    EXPECT_EQ(sums.expected_sq, 17);
    EXPECT_EQ(sums.product, 9);
    EXPECT_EQ(sums.expected_abs, 5);
    EXPECT_EQ(sums.error, 5);
    EXPECT_EQ(sums.error_sq, 13);
    EXPECT_EQ(sums.rel, 3.5);
    EXPECT_EQ(sums.max_error, 3);
    EXPECT_NEAR(sums.max_rel, 3, 3 * 0x1p-40);
    EXPECT_EQ(sums.inside, 2) << "2 is half of 4";
    EXPECT_EQ(sums.histogram[42], 2) << "2 and 3 are from 2^1 on";
  });
}

TYPED_TEST(MeasureVector, RangesZerosAndUnequalOnes) {
  on_every_isa([&] {
    const auto block = std::make_unique<Block<TypeParam>>();
    const BlockRange range = block_range(3, block->actual, block->expected);
    EXPECT_EQ(range.actual_min, 1);
    EXPECT_EQ(range.actual_max, 3);
    EXPECT_EQ(range.expected_min, 0);
    EXPECT_EQ(range.expected_max, 4);
    EXPECT_EQ(range.actual_zeros, 0);
    EXPECT_EQ(range.expected_zeros, 1);
    EXPECT_EQ(range.unequal, 2);
  });
}

// Errors 2 and 3 are beyond 1.5; with 100 and 10 units away only the first is beyond 50 units.
TYPED_TEST(MeasureVector, BeyondBothLimits) {
  Tolerance tolerance;
  tolerance.limit = 1.5;
  on_every_isa([&] {
    const auto block = std::make_unique<Block<TypeParam>>();
    EXPECT_EQ(block_beyond(tolerance, 3, block->actual, block->expected, nullptr), 2);
    Tolerance units = tolerance;
    units.limit_ulp = 50;
    alignas(64) std::uint32_t distances[kMeasureBlock] = {0, 100, 10};
    EXPECT_EQ(block_beyond(units, 3, block->actual, block->expected, distances), 1);
    // An element of 1 or more may be off by 2.5: 2 is within that, and beside 0 it counts nothing.
    Tolerance share = tolerance;
    share.limit_share = 2.5;
    EXPECT_EQ(block_beyond(share, 3, block->actual, block->expected, nullptr), 1);
  });
}

// 2 / (1 + 4) and 3 / (1 + 0); beside a scale of 6 they are 2 / 10 and 3 / 6.
TYPED_TEST(MeasureVector, LeastToleranceIsOfTheScaleAndTheValue) {
  on_every_isa([&] {
    const auto block = std::make_unique<Block<TypeParam>>();
    EXPECT_DOUBLE_EQ(block_min_tolerance(1, 3, block->actual, block->expected), 3);
    EXPECT_DOUBLE_EQ(block_min_tolerance(6, 3, block->actual, block->expected), 0.5);
    EXPECT_DOUBLE_EQ(block_min_tolerance(0, 1, block->actual, block->expected), 0);
  });
}

// The first of several elements with that error.
TYPED_TEST(MeasureVector, FindsTheFirstWorstElement) {
  on_every_isa([&] {
    const auto block = std::make_unique<Block<TypeParam>>();
    block->actual[3] = 7, block->expected[3] = 4;
    EXPECT_EQ(find_error(3, 4, block->actual, block->expected), 2U);
    EXPECT_EQ(find_error(2, 4, block->actual, block->expected), 1U);
    double error = 0;
    EXPECT_EQ(find_worst_rel(rules_with(), 4, block->actual, block->expected, error), 2U);
    EXPECT_EQ(error, 3);
  });
}

// Next to 1 is 1 unit away; from -1 to 1 there are twice the numbers from 0 to 1, 0x3F800000 in
// fp32 and 0x3C00 in fp16.
TEST(MeasureVectorUlp, CountsNumbersBetween) {
  on_every_isa([&] {
    const auto block = std::make_unique<Block<float>>();
    block->actual[0] = std::nextafter(1.0F, 2.0F);
    block->actual[1] = -1;
    block->actual[2] = 0.0F;
    for (std::size_t i = 0; i < 2; ++i) block->expected[i] = 1;
    block->expected[2] = -0.0F;
    alignas(64) std::uint32_t distances[kMeasureBlock] = {};
    const BlockUlp found = block_ulp(DType::fp32, 3, block->actual, block->expected, distances);
    EXPECT_EQ(distances[0], 1U);
    EXPECT_EQ(distances[1], 2 * 0x3F800000U);
    EXPECT_EQ(distances[2], 0U);
    EXPECT_EQ(found.max, 2.0 * 0x3F800000);
    EXPECT_EQ(found.sum, 2.0 * 0x3F800000 + 1);
    block_ulp(DType::fp16, 3, block->actual, block->expected, distances);
    EXPECT_EQ(distances[0], 0U) << "both round to 1";
    EXPECT_EQ(distances[1], 2 * 0x3C00U);
  });
}

// |2/4 - 1| is 0.5, and where y is 0 the error is none.
TEST(MeasureVectorMsaccucmp, RelativeErrorsLeaveZerosOut) {
  on_every_isa([&] {
    const auto block = std::make_unique<Block<float>>();
    const BlockRelative relative = block_relative(3, block->actual, block->expected);
    EXPECT_EQ(relative.sum, 0.5);
    EXPECT_EQ(relative.max, 0.5);
  });
}

// (1 - 2)^2 + (2 - 2)^2 + (3 - 2)^2
TEST(MeasureVectorMsaccucmp, SpreadIsAroundTheMean) {
  on_every_isa([&] {
    const auto block = std::make_unique<Block<float>>();
    EXPECT_EQ(block_spread(2, 3, block->actual), 2);
    EXPECT_EQ(block_spread(0, 3, block->actual), 14);
  });
}

// 0.5 and 0.5 against 0.25 and 0.75: 0.5 * log(2) + 0.5 * log(2 / 3).
TEST(MeasureVectorMsaccucmp, DivergenceByHand) {
  on_every_isa([&] {
    const auto block = std::make_unique<Block<float>>();
    for (std::size_t i = 0; i < 2; ++i) block->actual[i] = 0.5F;
    block->expected[0] = 0.25F;
    block->expected[1] = 0.75F;
    const KlSums sums = block_kl({}, 2, block->actual, block->expected);
    EXPECT_DOUBLE_EQ(sums.x, 1);
    EXPECT_DOUBLE_EQ(sums.y, 1);
    EXPECT_NEAR(sums.log, 0.5 * std::log(2.0) + 0.5 * std::log(2.0 / 3), 1e-6);
  });
}

}  // namespace opbench
