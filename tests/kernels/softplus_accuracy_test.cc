#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <iostream>
#include <vector>

#include "tensor/dtype.h"
#include "tensor/half.h"
#include "tests/evaluate.h"
#include "tests/support.h"

namespace opbench {
namespace {

// 2^20 fp32 values: every exponent, both signs, 2^11 mantissas each. The mantissas are spread over
// the whole range and differ between exponents.
std::vector<float> sweep_fp32() {
  std::vector<float> values;
  values.reserve(1 << 20);
  for (std::uint32_t sign = 0; sign < 2; ++sign) {
    for (std::uint32_t exponent = 0; exponent < 256; ++exponent) {
      for (std::uint32_t k = 0; k < 2048; ++k) {
        const std::uint32_t mantissa = (k << 12) + (k * 2654435761u + exponent * 40503u) % 4096;
        values.push_back(std::bit_cast<float>(sign << 31 | exponent << 23 | mantissa));
      }
    }
  }
  return values;
}

// Computed in fp64, independently of the operator's reference: its log1p comes from libm.
double exact_softplus(double x, double beta) {
  const double t = beta * x;
  return t > 20 ? x : (std::fmax(t, 0.0) + std::log1p(std::exp(-std::fabs(t)))) / beta;
}

// The result of softplus_v2 for `x`.
template <class T>
std::vector<T> softplus_v2(DType dtype, const std::vector<T>& x, const AttrTexts& attrs = {}) {
  const auto desc = describe(dtype, {static_cast<std::int64_t>(x.size())});
  Tensor input(desc), output(desc);
  std::copy(x.begin(), x.end(), input.as<T>());
  const Op& op = find_op("softplus");
  const Problem problem = make_problem(op, {desc}, attrs_of(op, attrs));
  run_kernel(find_kernel("softplus", "softplus_v2"), problem, {&input}, {&output});
  return std::vector<T>(output.as<T>(), output.as<T>() + x.size());
}

// The distance to the exact value in units in the last place of the nearest fp32 number. The exact
// value is not rounded.
double ulp_error(float actual, double exact) {
  const int exponent = std::max(std::ilogb(exact), -126);
  return std::fabs(double(actual) - exact) / std::ldexp(1.0, exponent - 23);
}

}  // namespace

TEST(SoftplusV2, IsWithinTwoUlpOnEveryExponent) {
  const std::vector<float> x = sweep_fp32();
  for (const char* beta : {"1", "0.1", "3", "-1.7"}) {
    const double b = double(std::stof(beta));
    on_every_isa([&] {
      const std::vector<float> y = softplus_v2(DType::fp32, x, {{"beta", beta}});
      const bool has_fma = current_isa() != "scalar" && current_isa() != "emu128";
      // beta adds a rounding. Without FMA, every step adds a rounding.
      const double allowed = b == 1 ? (has_fma ? 2.0 : 2.05) : (has_fma ? 2.25 : 2.75);
      double worst = 0, worst_x = 0;
      for (std::size_t i = 0; i < x.size(); ++i) {
        const double exact = exact_softplus(double(x[i]), b);
        if (std::isnan(x[i])) {
          ASSERT_TRUE(std::isnan(y[i])) << "x = " << x[i];
          continue;
        }
        if (!std::isfinite(exact) || std::fabs(exact) > 0x1.fffffep127) {
          ASSERT_FALSE(std::isfinite(y[i])) << "x = " << x[i];
          continue;
        }
        if (std::fabs(exact) < 0x1p-126) {  // subnormal results are counted in steps of 2^-149
          ASSERT_LE(std::fabs(double(y[i]) - exact), 2 * 0x1p-149) << "x = " << x[i];
          continue;
        }
        const double error = ulp_error(y[i], exact);
        if (error > worst) worst = error, worst_x = double(x[i]);
      }
      EXPECT_LE(worst, allowed) << "at x = " << worst_x << ", beta " << beta;
      RecordProperty(std::string("worst_ulp_beta_") + beta + "_" + current_isa(),
                     std::to_string(worst));
    });
  }
}

// The polynomials are as short as an error of one unit in the last place allows, because fp16 is
// used for speed.
TEST(SoftplusV2, IsWithinOneUlpAndMostlyCorrectlyRoundedOnFp16) {
  std::vector<half> x;
  for (std::uint32_t bits = 0; bits < 65536; ++bits) {
    x.push_back(std::bit_cast<half>(static_cast<std::uint16_t>(bits)));
  }
  on_every_isa([&] {
    const std::vector<half> y = softplus_v2(DType::fp16, x);
    int right = 0;
    for (std::size_t i = 0; i < x.size(); ++i) {
      const double exact = exact_softplus(double(float(x[i])), 1);
      const half expected = round_to_half(exact);
      const bool is_nan = std::isnan(exact) && (Eigen::numext::isnan)(y[i]);
      right +=
          is_nan || std::bit_cast<std::uint16_t>(expected) == std::bit_cast<std::uint16_t>(y[i]);
      if (std::isnan(exact)) continue;
      ASSERT_LE(ulp_distance(DType::fp16, double(float(y[i])), exact), 1) << float(x[i]);
    }
    EXPECT_GE(right, 65536 * 0.96) << "correctly rounded";
    std::cout << "softplus_v2 fp16, " << current_isa() << ": " << right
              << " of 65536 correctly rounded\n";
  });
}

TEST(SoftplusV2, IsWithinOneUlpOnBf16) {
  std::vector<bfloat16> x;
  for (std::uint32_t bits = 0; bits < 65536; ++bits) {
    x.push_back(std::bit_cast<bfloat16>(static_cast<std::uint16_t>(bits)));
  }
  on_every_isa([&] {
    const auto y = softplus_v2(DType::bf16, x);
    for (std::size_t i = 0; i < x.size(); ++i) {
      const double exact = exact_softplus(double(float(x[i])), 1);
      if (std::isnan(exact)) continue;
      ASSERT_LE(ulp_distance(DType::bf16, double(float(y[i])), exact), 1) << float(x[i]);
    }
  });
}

/// A row of the published table: relative errors of the three forms against fp64.
struct DeviceError {
  double x, v1, v2_static, v2_dynamic;
};

// The inputs for which the device's operators lose accuracy, and the size of the errors. The errors
// come from rounding 1 + e^x to fp32, so every good exp and log gives them. Source: the comparison
// of Softplus, SoftplusV2 static and dynamic, fp32 against fp64.
TEST(Softplus, ReproducesTheDevicesErrors) {
  constexpr DeviceError kTable[] = {
      {-80, 1, 1, 1e-7},           {-17, 1, 1, 1e-7},           {-16, 0.059, 0.059, 1e-7},
      {-12, 8.9e-3, 8.9e-3, 1e-7}, {-10, 4.4e-4, 4.1e-4, 1e-7}, {-8, 3e-5, 2e-5, 1e-7},
  };
  on_every_isa([&] {
    for (const DeviceError& row : kTable) {
      const double exact = exact_softplus(row.x, 1);
      const auto error = [&](const char* variant) {
        return std::fabs(kernel_values("softplus", variant, DType::fp32, {{row.x}})[0] / exact - 1);
      };
      // Two digits are published, but one digit at -8, where the last bit of log(1+e) has an
      // effect.
      const double slack = row.x < -9 ? 0.03 : 0.6;
      EXPECT_NEAR(error("softplus"), row.v1, slack * row.v1) << row.x;
      EXPECT_NEAR(error("softplus_v2_static"), row.v2_static, slack * row.v2_static) << row.x;
      EXPECT_LE(error("softplus_v2"), row.v2_dynamic) << row.x;
    }
    for (double x = -1; x <= 15; x += 0.25) {
      const double exact = exact_softplus(x, 1);
      const auto error = [&](const char* variant) {
        return std::fabs(kernel_values("softplus", variant, DType::fp32, {{x}})[0] / exact - 1);
      };
      EXPECT_LE(error("softplus"), 2.5e-7) << x;
      EXPECT_LE(error("softplus_v2_static"), 2.5e-7) << x;
    }
  });
}

TEST(SoftplusGrad, V1OverflowsToNaNAndV2DoesNot) {
  const std::vector<std::vector<double>> inputs = {{1, 1}, {88, 89}};
  const auto v1 = kernel_values("softplus_grad", "softplus_grad", DType::fp32, inputs);
  EXPECT_EQ(v1[0], 1);
  EXPECT_TRUE(std::isnan(v1[1]));
  EXPECT_EQ(kernel_values("softplus_grad", "softplus_v2_grad", DType::fp32, inputs),
            (std::vector<double>{1, 1}));
}

}  // namespace opbench
