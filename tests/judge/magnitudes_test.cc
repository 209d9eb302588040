#include "judge/magnitudes.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "judge/measure_chunk.h"

namespace opbench {
namespace {

double scale(const std::vector<float>& values) {
  Magnitudes magnitudes;
  magnitudes.add({StoredType::f32, DType::fp32}, values.data(), std::ssize(values), true);
  return magnitudes.scale();
}

TEST(Magnitudes, OfFewValuesItIsOneOfThem) {
  EXPECT_EQ(scale({1, -2, 3, -4}), 3);
  EXPECT_EQ(scale({5}), 5);
  EXPECT_EQ(scale({0, 0, -7, 0}), 7) << "zeros do not count";
  EXPECT_EQ(scale({1, HUGE_VALF, NAN, -HUGE_VALF}), 1) << "nor does what is not finite";
  EXPECT_EQ(scale({0, 0}), 0);
  EXPECT_EQ(scale({}), 0);
}

TEST(Magnitudes, OfManyValuesItIsRightWithinASixteenth) {
  for (const float unit : {1e-30F, 3e-4F, 1.0F, 7e20F}) {
    std::vector<float> values;
    for (int i = 0; i < 10000; ++i) values.push_back(unit * static_cast<float>(1 + i * 37 % 10000));
    EXPECT_NEAR(scale(values) / (7500 * double{unit}), 1, 1.0 / 16) << unit;
  }
}

// Fewer than a quarter of the values may have any size.
TEST(Magnitudes, DoesNotFollowAFewLargeValues) {
  std::vector<float> values(10000, 3e-4F);
  for (std::size_t i = 0; i < values.size(); i += 5) values[i] = 65504;
  EXPECT_NEAR(scale(values), 3e-4, 3e-4 / 8);
}

// Half of the scores of a causal attention are masked.
TEST(Magnitudes, AMaskCountsNot) {
  for (const std::size_t size : {std::size_t{100}, 2 * std::size_t{kMeasureBlock}}) {
    for (const float mask : {-1e9F, -1e4F, -3.4e38F}) {
      std::vector<float> values(size, 2.0F);
      for (std::size_t i = 0; i < size; i += 2) values[i] = mask + 2;
      EXPECT_NEAR(scale(values), 2, 0.25) << size << " " << mask;
    }
    EXPECT_NEAR(scale({-1e9F, 2, -1e9F, 1}), 1e9, 1) << "a few may be anything";
    std::vector<float> alone(size, -1e9F);
    EXPECT_NEAR(scale(alone), 1e9, 1e9 / 8) << "a number alone is none";
    std::vector<float> spread(size, 1.0F);
    for (std::size_t i = 0; i < size; i += 2) spread[i] = i % 4 == 0 ? 4000.0F : 7000.0F;
    EXPECT_GT(scale(spread), 3000) << "neither are several";
  }
}

TEST(Magnitudes, PartsAndTypesAgree) {
  std::vector<float> floats;
  std::vector<double> doubles;
  for (std::size_t i = 0; i < 3 * kMeasureBlock + 7; ++i) {
    const double value =
        std::ldexp(std::sin(static_cast<double>(i)), static_cast<int>(i % 40) - 20);
    floats.push_back(static_cast<float>(value));
    doubles.push_back(floats.back());
  }
  floats[5] = std::numeric_limits<float>::denorm_min();
  doubles[5] = floats[5];
  Magnitudes whole, wide, parts;
  const auto count = std::ssize(floats);
  whole.add({StoredType::f32, DType::fp32}, floats.data(), count, true);
  wide.add({StoredType::f64, DType::fp64}, doubles.data(), count, true);
  for (std::int64_t first = 0; first < count; first += 5000) {
    Magnitudes part;
    part.add({StoredType::f32, DType::fp32}, floats.data() + first,
             std::min<std::int64_t>(5000, count - first), false);
    parts.merge(part);
  }
  EXPECT_EQ(whole.scale(), wide.scale());
  EXPECT_EQ(whole.scale(), parts.scale());
}

}  // namespace
}  // namespace opbench
