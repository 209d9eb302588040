#include "kernels/simd/steps.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "tests/support.h"

namespace opbench {
namespace {

// Numbers between steps, with ties, both ends, NaN and Inf.
std::vector<float> numbers(std::size_t count) {
  constexpr float kSome[] = {0.5f,  1.5f, -2.5f, 3.25f, 126.5f, 127.5f, -128.5f, 1e9f,
                             -1e9f, NAN,  -0.0f, 6.5f,  7.5f,   -8.5f,  0.49f,   INFINITY};
  std::vector<float> result;
  for (std::size_t i = 0; i < count; ++i) result.push_back(kSome[i % std::size(kSome)]);
  return result;
}

void expect_stored(const Steps& steps, std::size_t count) {
  const std::vector<float> from = numbers(count);
  std::vector<std::uint8_t> stored(count + 1, 0xAB);
  store_steps(steps, from.data(), std::int64_t(count), stored.data());
  EXPECT_EQ(stored[count], 0xAB) << "one element too far";
  std::vector<double> values(count);
  to_doubles(steps.dtype, stored.data(), std::int64_t(count), values.data());
  for (std::size_t i = 0; i < count; ++i) {
    const double expected = steps(double(from[i]));
    if (std::isnan(expected)) {
      EXPECT_TRUE(std::isnan(values[i])) << from[i];
    } else {
      EXPECT_EQ(values[i], expected) << name(steps.dtype) << ' ' << from[i];
    }
  }
}

}  // namespace

TEST(StoreSteps, EveryDTypeAndRounding) {
  on_every_isa([] {
    for (const std::size_t count : {0, 1, 7, 16, 17, 33}) {
      for (const DType dtype : kStepDTypes) expect_stored(steps_of(dtype), count);
      for (const StepRounding rounding :
           {StepRounding::floor, StepRounding::ceil, StepRounding::trunc}) {
        expect_stored(steps_of(DType::int8, rounding), count);
      }
    }
  });
}

TEST(RangeOf, KeepsNaN) {
  on_every_isa([] {
    for (const std::size_t place : {0, 5, 16, 20}) {
      std::vector<float> x(21, 2.0f);
      x[3] = -7;
      EXPECT_EQ(range_of(x.data(), std::ssize(x)).magnitude(), 7);
      EXPECT_EQ(range_of(x.data(), std::ssize(x)).most, 2);
      x[place] = NAN;
      EXPECT_TRUE(std::isnan(range_of(x.data(), std::ssize(x)).most)) << place;
      EXPECT_TRUE(std::isnan(range_of(x.data(), std::ssize(x)).least)) << place;
    }
  });
}

}  // namespace opbench
