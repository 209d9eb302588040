#include <gmock/gmock.h>

#include <cmath>

#include "tests/ops/values.h"
#include "tests/support.h"
#include "tests/support/non_finite.h"

namespace opbench {
namespace {

using testing::ElementsAre;
using testing::IsNan;

const std::vector<Given> kSevens = {{DType::int32, {4}, {7, -7, 7, -7}},
                                    {DType::int32, {4}, {2, 2, -2, -2}}};

}  // namespace

// Source: torch.div with rounding_mode, torch.fmod, torch.remainder.
TEST(Remainders, OfIntegersFollowTheSigns) {
  expect_values("trunc_divide", kSevens, {3, -3, -3, 3});
  expect_values("floor_divide", kSevens, {3, -4, -4, 3});
  expect_values("fmod", kSevens, {1, -1, 1, -1});
  expect_values("remainder", kSevens, {1, 1, -1, -1});
}

TEST(Remainders, OfTheSmallestIntegerAndOfZero) {
  const std::vector<Given> x = {{DType::int8, {3}, {-128, 5, -128}},
                                {DType::int8, {3}, {-1, 0, 127}}};
  expect_values("trunc_divide", x, {-128, 0, -1});
  expect_values("floor_divide", x, {-128, 0, -2});
  expect_values("fmod", x, {0, 0, -1});
  expect_values("remainder", x, {0, 0, 126});
}

TEST(Remainders, OfFloatingNumbers) {
  const std::vector<Given> x = {{kFp32, {5}, {5.5, -5.5, 5.5, kInf, -1}},
                                {kFp32, {5}, {2, 2, -2, 2, kInf}}};
  expect_values("fmod", x, ElementsAre(1.5, -1.5, 1.5, IsNan(), -1));
  expect_values("remainder", x, ElementsAre(1.5, 0.5, -0.5, IsNan(), kInf));
}

// Quotients from 2^-60 to 2^60, whole ones among them; the C library is exact.
TEST(Remainders, AreExact) {
  Given x{kFp32, {1000}, {}}, y = x;
  std::vector<double> truncated;
  for (int i = 0; i < 1000; ++i) {
    const float a = std::ldexp(float(i * 7919 % 1001 - 500), i % 61 - 30);
    const float b = std::ldexp(float(i * 31 % 97 + 1), i % 37 - 18) * (i % 3 == 0 ? -1.0f : 1.1f);
    x.values.push_back(double(a));
    y.values.push_back(double(b));
    truncated.push_back(double(std::fmod(a, b)));
  }
  on_every_isa([&] { EXPECT_EQ(kernel_on_tensors("fmod", "native", {x, y})[0], truncated); });
}

}  // namespace opbench
