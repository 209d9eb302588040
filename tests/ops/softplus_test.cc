#include <gmock/gmock.h>

#include <cmath>

#include "tests/evaluate.h"
#include "tests/support.h"
#include "tests/support/non_finite.h"

namespace opbench {

using testing::DoubleNear;
using testing::ElementsAre;

// Source: the exact values in the table of the device's SoftplusV2 (log(1+e^x) to three digits) and
// ln 2 at 0.
TEST(Softplus, PublishedValues) {
  const auto y = reference_values("softplus", DType::fp32, {{-80, -17, -16, -12, -10, -8, 0}});
  EXPECT_NEAR(y[0], 1.80e-35, 0.01e-35);
  EXPECT_NEAR(y[1], 4.14e-8, 0.01e-8);
  EXPECT_NEAR(y[2], 1.125e-7, 0.001e-7);
  EXPECT_NEAR(y[3], 6.14e-6, 0.01e-6);
  EXPECT_NEAR(y[4], 4.54e-5, 0.01e-5);
  EXPECT_NEAR(y[5], 3.35e-4, 0.01e-4);
  EXPECT_DOUBLE_EQ(y[6], std::log(2.0));
}

// The reference's own log1p is compared with the library's over the whole range.
TEST(Softplus, ReferenceIsExactToTheLastBitsOfFp64) {
  for (double x = -60; x < 20; x += 0.37) {
    const double x32 = double(float(x));
    const double y = reference_values("softplus", DType::fp32, {{x}})[0];
    const double expected = std::fmax(x32, 0) + std::log1p(std::exp(-std::fabs(x32)));
    EXPECT_NEAR(y / expected, 1, 1e-15) << x;
  }
}

// The function is linear strictly above the threshold: log(1+e^2) = 2.1269280110429727 (by hand: 2
// + log1p(e^-2)).
TEST(Softplus, ThresholdIsStrict) {
  const double above = 2.0000002384185791015625;  // the next fp32 after 2
  EXPECT_THAT(reference_values("softplus", DType::fp32, {{2, above}}, {{"threshold", "2"}}),
              ElementsAre(DoubleNear(2.1269280110429727, 1e-15), above));
}

// beta*x equals the threshold only after rounding to fp32. Source: PyTorch 1.13,
// torch.nn.functional.softplus(torch.tensor([10.]), 0.3, 3) and so on. The result is x itself if
// the exact product decides.
TEST(Softplus, TheRoundedProductDecides) {
  struct Tie {
    const char *beta, *threshold;
    double x, y, slope;
  };
  for (const Tie& tie : {Tie{"0.3", "3", 10, 10.161957740783691, 0.9525741338729858},
                         {"0.7", "2.1", 3, 3.1650278568267822, 0.8909031748771667},
                         {"0.1", "2.5", 25, 25.788898468017578, 0.9241418242454529}}) {
    const AttrTexts attrs{{"beta", tie.beta}, {"threshold", tie.threshold}};
    const auto near_y = ElementsAre(DoubleNear(tie.y, 2e-6));
    const auto near_slope = ElementsAre(DoubleNear(tie.slope, 1e-7));
    EXPECT_THAT(reference_values("softplus", DType::fp32, {{tie.x}}, attrs), near_y);
    EXPECT_THAT(reference_values("softplus_grad", DType::fp32, {{1}, {tie.x}}, attrs), near_slope);
    on_every_isa([&] {
      for (const char* variant : {"native", "softplus_v2", "softplus_v2_static"}) {
        EXPECT_THAT(kernel_values("softplus", variant, DType::fp32, {{tie.x}}, attrs), near_y)
            << variant;
      }
      EXPECT_THAT(
          kernel_values("softplus_grad", "softplus_v2_grad", DType::fp32, {{1}, {tie.x}}, attrs),
          near_slope);
    });
  }
}

// softplus(x; beta) = softplus(beta x; 1)/beta: log(1+e^6)/2 = 3.0012378731...
TEST(Softplus, BetaScales) {
  EXPECT_THAT(reference_values("softplus", DType::fp32, {{3}}, {{"beta", "2"}}),
              ElementsAre(DoubleNear((6 + std::log1p(std::exp(-6.0))) / 2, 1e-15)));
  EXPECT_THAT(reference_values("softplus", DType::fp32, {{3}}, {{"beta", "-2"}}),
              ElementsAre(DoubleNear(std::log1p(std::exp(-6.0)) / -2, 1e-15)));
}

TEST(Softplus, SpecialValues) {
  const auto y = reference_values("softplus", DType::fp32, {{kInf, -kInf, kNan, 1e30, -1e30}});
  EXPECT_EQ(y[0], kInf);
  EXPECT_EQ(y[1], 0);
  EXPECT_TRUE(std::isnan(y[2]));
  EXPECT_EQ(y[3], double(1e30f));
  EXPECT_EQ(y[4], 0);
}

// d/dx log(1+e^x) = 1/(1+e^-x): 1/2 at 0, 1/(1+e) at -1.
TEST(SoftplusGrad, HandComputed) {
  EXPECT_THAT(reference_values("softplus_grad", DType::fp32, {{1, 2, 3, 4}, {0, -1, 25, -kInf}}),
              ElementsAre(0.5, DoubleNear(2 / (1 + std::exp(1.0)), 1e-15), 3, 0));
}

// exp(-104) is 0 in fp32, and Inf*0 is NaN. fp16 and bf16 are also computed in fp32. Source:
// PyTorch 1.13, y.backward(torch.tensor([inf])) of softplus in fp32.
TEST(SoftplusGrad, OfInfEndsWhereTheSlopeIsZero) {
  const std::vector<double> x = {-87, -100, -103.9375, -104, -60000, -kInf};
  const std::vector<double> dy(x.size(), kInf), minus_dy(x.size(), -kInf);
  const auto nan = testing::IsNan();
  const auto expected = ElementsAre(kInf, kInf, kInf, nan, nan, nan);
  const auto negative = ElementsAre(-kInf, -kInf, -kInf, nan, nan, nan);
  for (const DType dtype : {DType::fp32, DType::fp16}) {
    EXPECT_THAT(reference_values("softplus_grad", dtype, {dy, x}), expected) << name(dtype);
    on_every_isa([&] {
      for (const char* variant : {"native", "softplus_v2_grad"}) {
        const auto dx = [&](const std::vector<double>& of, const AttrTexts& attrs) {
          return kernel_values("softplus_grad", variant, dtype, {of, x}, attrs);
        };
        EXPECT_THAT(dx(dy, {}), expected) << variant << " " << name(dtype);
        EXPECT_THAT(dx(minus_dy, {}), negative) << variant << " " << name(dtype);
        // beta leaves the products unchanged.
        EXPECT_THAT(dx(dy, {{"beta", "0.5"}})[4], nan) << variant << " " << name(dtype);
      }
    });
  }
}

// exp(12) overflows fp16, the gradient does not: 65504/(1+e^12) = 0.40246. Source: by hand.
TEST(SoftplusGrad, DoesNotEndWhereExpDoes) {
  on_every_isa([&] {
    EXPECT_THAT(kernel_values("softplus_grad", "native", DType::fp16, {{-65504}, {-12}}),
                ElementsAre(DoubleNear(-65504 / (1 + std::exp(12.0)), 1.3e-4)));
  });
}

TEST(SoftplusGrad, AgreesWithFiniteDifferences) {
  for (const char* beta : {"1", "2.5", "-0.5"}) {
    for (const double x : {-3.0, -0.5, 0.25, 4.0}) {
      const double h = 0x1p-8;  // exact in fp32 when added to these x
      const auto y = reference_values("softplus", DType::fp32, {{x - h, x + h}}, {{"beta", beta}});
      const auto dx = reference_values("softplus_grad", DType::fp32, {{1}, {x}}, {{"beta", beta}});
      EXPECT_NEAR(dx[0], (y[1] - y[0]) / (2 * h), 1e-5) << x << " beta " << beta;
    }
  }
}

}  // namespace opbench
