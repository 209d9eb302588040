// Tests numbers of known generators, and these numbers with typical faults of kernels.
#include "judge/draws.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

#include "tests/support/non_finite.h"

namespace opbench {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

std::vector<double> drawn(std::size_t count, auto distribution) {
  std::mt19937_64 generator(7);
  std::vector<double> values(count);
  std::generate(values.begin(), values.end(), [&] { return double(distribution(generator)); });
  return values;
}

std::string wrong(Drawn kind, double first, double second, const std::vector<double>& values) {
  return wrong_draws({kind, first, second, DType::fp32, values, {}});
}

TEST(WrongDraws, RightOnesOfAnyNumber) {
  for (const std::size_t count : {1u, 2u, 10u, 1000u, 100'000u}) {
    EXPECT_EQ(wrong(Drawn::bernoulli, 0.1, 0, drawn(count, std::bernoulli_distribution(0.1))), "");
    EXPECT_EQ(wrong(Drawn::uniform, -2, 3, drawn(count, std::uniform_real_distribution(-2., 3.))),
              "");
    EXPECT_EQ(wrong(Drawn::normal, 4, 0.5, drawn(count, std::normal_distribution(4., 0.5))), "");
  }
  EXPECT_EQ(wrong(Drawn::normal, 0, 1, {}), "");
  EXPECT_EQ(wrong(Drawn::somehow, 0, 0, {17}), "");
}

TEST(WrongDraws, ShareMeanAndSpread) {
  EXPECT_EQ(wrong(Drawn::bernoulli, 0.1, 0, std::vector<double>(20, 1)),
            "20 of 20 are 1, where the share should be 0.1");
  const auto normal = drawn(10'000, std::normal_distribution(0., 1.));
  EXPECT_THAT(wrong(Drawn::normal, 0.1, 1, normal), StartsWith("the mean differs by"));
  EXPECT_THAT(wrong(Drawn::normal, 0, 1.2, normal), StartsWith("the variance is"));
  const auto uniform = drawn(10'000, std::uniform_real_distribution(0.1, 0.9));
  EXPECT_THAT(wrong(Drawn::uniform, 0, 1, uniform), StartsWith("the variance is"));
  EXPECT_THAT(wrong(Drawn::uniform, 0, 0.92, uniform), StartsWith("the mean differs by"));
}

TEST(WrongDraws, ValuesThatCannotBeDrawn) {
  EXPECT_EQ(wrong(Drawn::bernoulli, 0.5, 0, {0, 1, 0.5}), "element 2 is 0.5; allowed: 0 and 1");
  EXPECT_EQ(wrong(Drawn::uniform, 0, 1, {0.5, 1.5}), "element 1 is 1.5; allowed: 0 to 1");
  EXPECT_THAT(wrong(Drawn::uniform, 0, 1, {kNan}), HasSubstr("allowed: 0 to 1"));
  EXPECT_THAT(wrong(Drawn::normal, 0, 1, {kNan}), HasSubstr("allowed: finite numbers"));
}

// An input of 0 does not show whether the element was dropped. NaN and Inf are passed on or
// dropped.
TEST(WrongDraws, DroppedElements) {
  const std::vector<double> x = {0, 1, -2, kInf};
  const auto dropout = [&](const std::vector<double>& y, DType dtype) {
    return wrong_draws({Drawn::dropout, 0.5, 0, dtype, y, x});
  };
  EXPECT_EQ(dropout({0, 2, 0, 0}, DType::fp32), "");
  EXPECT_EQ(dropout({0, 2.004, 0, 0}, DType::bf16), "");
  EXPECT_EQ(dropout({0, 2.004, 0, 0}, DType::fp32), "element 1 is 2.004; allowed: 0 and 2");
  EXPECT_THAT(dropout({0, 2, kNan, 0}, DType::fp32), StartsWith("element 2 is"));
}

}  // namespace
}  // namespace opbench
