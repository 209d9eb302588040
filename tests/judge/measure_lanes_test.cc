// Tests the vector code of a block on few numbers by hand, with every instruction set.
#include "judge/measure_lanes.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "tests/support.h"

namespace opbench {
namespace {

/// Rules with relative errors that are divided by 1 at least.
PairRules rules_with(const Tolerance& tolerance = {}, DType dtype = DType::fp32) {
  const ValueKind kind{StoredType::f32, dtype};
  PairRules rules = pair_rules(kind, kind, tolerance);
  rules.smallest = 1;
  return rules;
}

template <class T>
BlockNumbers numbers(const PairRules& rules, const std::vector<T>& actual,
                     const std::vector<T>& expected, bool has_units = false) {
  const std::vector<float> a(actual.begin(), actual.end()), e(expected.begin(), expected.end());
  return block_numbers(rules, BlockValues<T>{actual.size(), actual.data(), expected.data(),
                                             a.data(), e.data(), has_units, true});
}

/// The errors are 0, 2 and 3.
template <class T>
class MeasureLanes : public testing::Test {
 protected:
  std::vector<T> actual = {1, 2, 3}, expected = {1, 4, 0};
};
using Numbers = testing::Types<float, double>;
TYPED_TEST_SUITE(MeasureLanes, Numbers);

}  // namespace

// The products are 1 + 8 + 0, the squares 1 + 4 + 9 and 1 + 16 + 0, the relative errors 0, 2 / 4
// and 3 / 1.
TYPED_TEST(MeasureLanes, SumsByHand) {
  Tolerance tolerance;
  tolerance.rtol = 0.5;
  on_every_isa([&] {
    const BlockNumbers found = numbers(rules_with(tolerance), this->actual, this->expected);
    EXPECT_EQ(found.actual, 6);
    EXPECT_EQ(found.expected, 5);
    EXPECT_EQ(found.actual_sq, 14);
    EXPECT_EQ(found.expected_sq, 17);
    EXPECT_EQ(found.product, 9);
    EXPECT_EQ(found.expected_abs, 5);
    EXPECT_EQ(found.error, 5);
    EXPECT_EQ(found.error_sq, 13);
    EXPECT_EQ(found.rel, 3.5);
    EXPECT_EQ(found.max_error, 3);
    EXPECT_NEAR(found.max_rel, 3, 3 * 0x1p-40);
    EXPECT_EQ(found.inside, 2) << "2 is half of 4";
    EXPECT_EQ(found.histogram[42], 2) << "2 and 3 are from 2^1 on";
    EXPECT_EQ(found.histogram[0], 1);
  });
}

TYPED_TEST(MeasureLanes, RangesZerosAndUnequalOnes) {
  on_every_isa([&] {
    const BlockNumbers found = numbers(rules_with(), this->actual, this->expected);
    EXPECT_EQ(found.actual_min, 1);
    EXPECT_EQ(found.actual_max, 3);
    EXPECT_EQ(found.expected_min, 0);
    EXPECT_EQ(found.expected_max, 4);
    EXPECT_EQ(found.actual_zeros, 0);
    EXPECT_EQ(found.expected_zeros, 1);
    EXPECT_EQ(found.unequal, 2);
  });
}

// Errors 2 and 3 exceed 1.5. They are about 2^23 and 2^30 units, of which 2^24 are allowed.
TYPED_TEST(MeasureLanes, BeyondBothLimits) {
  Tolerance tolerance;
  tolerance.limit = 1.5;
  on_every_isa([&] {
    const auto beyond = [&](const Tolerance& of, bool has_units) {
      return numbers(rules_with(of), this->actual, this->expected, has_units).beyond;
    };
    EXPECT_EQ(beyond(tolerance, false), 2);
    Tolerance units = tolerance;
    units.limit_ulp = 0x1p24;
    EXPECT_EQ(beyond(units, true), 1);
    // An element of 1 or more may differ by 2.5, so an error of 2 is allowed. The share has no
    // effect at 0.
    Tolerance share = tolerance;
    share.limit_share = 2.5;
    EXPECT_EQ(beyond(share, false), 1);
  });
}

// 2 / (1 + 4) and 3 / (1 + 0). With a scale of 6 they are 2 / 10 and 3 / 6.
TYPED_TEST(MeasureLanes, LeastToleranceIsOfTheScaleAndTheValue) {
  on_every_isa([&] {
    const auto least = [&](double scale, std::size_t count) {
      PairRules rules = rules_with();
      rules.scale = scale;
      this->actual.resize(count), this->expected.resize(count);
      return numbers(rules, this->actual, this->expected).min_tolerance;
    };
    this->actual = {1, 2, 3}, this->expected = {1, 4, 0};
    EXPECT_DOUBLE_EQ(least(1, 3), 3);
    EXPECT_DOUBLE_EQ(least(6, 3), 0.5);
    EXPECT_DOUBLE_EQ(least(0, 1), 0);
  });
}

// The number next to 1 is 1 unit away. From -1 to 1 there are twice the numbers from 0 to 1, which
// are 0x3F800000 in fp32 and 0x3C00 in fp16.
TYPED_TEST(MeasureLanes, UnitsAreTheNumbersBetween) {
  on_every_isa([&] {
    const auto units = [&](DType dtype, float a, float e) {
      const BlockNumbers found = numbers<TypeParam>(rules_with({}, dtype), {a}, {e}, true);
      EXPECT_EQ(found.max_ulp, found.sum_ulp);
      return found.sum_ulp;
    };
    const float next = std::nextafter(1.0F, 2.0F);
    EXPECT_EQ(units(DType::fp32, next, 1), 1);
    EXPECT_EQ(units(DType::fp32, -1, 1), 2.0 * 0x3F800000);
    EXPECT_EQ(units(DType::fp32, 0.0F, -0.0F), 0);
    EXPECT_EQ(units(DType::fp16, next, 1), 0) << "both round to 1";
    EXPECT_EQ(units(DType::fp16, -1, 1), 2.0 * 0x3C00);
    EXPECT_EQ(units(DType::bf16, 1 + 0x1p-7F, 1), 1);
  });
}

// |2/4 - 1| is 0.5. The relative error counts as 0 if y is 0.
TYPED_TEST(MeasureLanes, QuotientsLeaveZerosOut) {
  on_every_isa([&] {
    const BlockNumbers found = numbers(rules_with(), this->actual, this->expected);
    EXPECT_EQ(found.quotient_sum, 0.5);
    EXPECT_EQ(found.quotient_max, 0.5);
  });
}

// (1 - 2)^2 + (2 - 2)^2 + (3 - 2)^2.
TEST(MeasureLanesMsaccucmp, SpreadIsAroundTheMean) {
  const std::vector<float> values = {1, 2, 3};
  on_every_isa([&] {
    EXPECT_EQ(block_spread(2, 3, values.data()), 2);
    EXPECT_EQ(block_spread(0, 3, values.data()), 14);
  });
}

// x is 0.5 and 0.5, y is 0.25 and 0.75: 0.5 * log(2) + 0.5 * log(2 / 3).
TEST(MeasureLanesMsaccucmp, DivergenceByHand) {
  const std::vector<float> x = {0.5F, 0.5F}, y = {0.25F, 0.75F};
  on_every_isa([&] {
    const KlSums sums = block_kl({}, 2, x.data(), y.data());
    EXPECT_DOUBLE_EQ(sums.x, 1);
    EXPECT_DOUBLE_EQ(sums.y, 1);
    EXPECT_NEAR(sums.log, 0.5 * std::log(2.0) + 0.5 * std::log(2.0 / 3), 1e-6);
  });
}

}  // namespace opbench
