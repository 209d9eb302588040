#include <gmock/gmock.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

#include "tensor/error.h"
#include "tests/evaluate.h"
#include "tests/support.h"
#include "tests/support/non_finite.h"

namespace opbench {
namespace {

using testing::DoubleNear;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsNan;
using testing::ThrowsMessage;

std::vector<double> of(std::string_view op, const std::vector<double>& x,
                       const AttrTexts& attrs = {}) {
  return reference_values(op, DType::fp32, {x}, attrs);
}

std::vector<double> grad_of(std::string_view op, const std::vector<double>& dy,
                            const std::vector<double>& saved, const AttrTexts& attrs = {}) {
  return reference_values(op, DType::fp32, {dy, saved}, attrs);
}

// 2^16 fp32 numbers: both signs, every exponent with 128 mantissas each, NaN and Inf.
std::vector<double> numbers_of_every_exponent() {
  std::vector<double> numbers;
  for (std::uint32_t i = 0; i < 1 << 16; ++i) {
    numbers.push_back(double(std::bit_cast<float>(i << 16 | (i * 2654435761u >> 16))));
  }
  return numbers;
}

struct Accuracy {
  const char* op;
  double (*exact)(double);
  double relative_error;
  AttrTexts attrs = {};
};

double exact_gelu(double x) { return x * std::erfc(-x / std::sqrt(2.0)) / 2; }
double exact_gelu_tanh(double x) {
  const double u = std::sqrt(2 / M_PI) * (x + 0.044715 * x * x * x);
  return x / (1 + std::exp(-2 * u));
}

void expect_accurate(const Accuracy& f, const std::vector<double>& x) {
  const std::vector<double> y = kernel_values(f.op, "native", DType::fp32, {x}, f.attrs);
  double worst = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double exact = f.exact(x[i]), rounded = double(static_cast<float>(exact));
    if (std::isnan(exact)) {
      ASSERT_TRUE(std::isnan(y[i])) << f.op << " of " << x[i] << " is " << y[i];
    } else if (std::isinf(rounded) || std::isinf(y[i])) {
      // A result next to Inf may round to Inf.
      const double largest = double(std::numeric_limits<float>::max());
      ASSERT_TRUE(y[i] == rounded || std::fabs(exact) > largest * (1 - f.relative_error))
          << f.op << " of " << x[i] << " is " << y[i];
    } else {
      // Steps of subnormal numbers; a product with x multiplies them.
      const double steps = 2 + std::min(std::fabs(x[i]), 16.0);
      const double error = std::fabs(y[i] - exact) - steps * 0x1p-149;
      ASSERT_LE(error, f.relative_error * std::fabs(exact))
          << f.op << " of " << x[i] << " is " << y[i] << ", exactly " << exact;
      if (exact != 0) worst = std::max(worst, error / std::fabs(exact));
    }
  }
  testing::Test::RecordProperty(std::string("relative_error_of_") + f.op, std::to_string(worst));
}

}  // namespace

// Source: Abramowitz and Stegun 1964, tables 4.4, 4.2, 4.15 and 26.1: e, ln 2, tanh 1/2, P(1).
TEST(Unary, PublishedValues) {
  EXPECT_THAT(of("exp", {0, 1}), ElementsAre(1, DoubleNear(2.718281828459045, 1e-15)));
  EXPECT_THAT(of("log", {1, 2}), ElementsAre(0, DoubleNear(0.693147180559945, 1e-15)));
  EXPECT_THAT(of("tanh", {0.5}), ElementsAre(DoubleNear(0.462117157260010, 1e-15)));
  // 1/(1 + e^-x) = (1 + tanh(x/2))/2.
  EXPECT_THAT(of("sigmoid", {1}), ElementsAre(DoubleNear((1 + 0.462117157260010) / 2, 1e-15)));
  EXPECT_THAT(of("gelu", {1, -1}), ElementsAre(DoubleNear(0.841344746068543, 1e-15),
                                               DoubleNear(0.841344746068543 - 1, 1e-15)));
}

// sqrt(2/pi) (1 + 0.044715) = 0.83356..., and its tanh is 0.68238...
TEST(Unary, GeluByTanh) {
  EXPECT_THAT(of("gelu", {1}, {{"approximate", "tanh"}}),
              ElementsAre(DoubleNear(0.841191990608277, 1e-14)));
  EXPECT_THAT(
      [] {
        of("gelu", {1}, {{"approximate", "erf"}});
      },
      ThrowsMessage<Error>(HasSubstr("allowed: none, tanh")));
}

TEST(Unary, EdgesOfTheirDomains) {
  EXPECT_THAT(of("log", {0, -1, kInf, kNan}), ElementsAre(-kInf, IsNan(), kInf, IsNan()));
  EXPECT_THAT(of("sqrt", {4, 0, -1, kInf}), ElementsAre(2, 0, IsNan(), kInf));
  EXPECT_THAT(of("rsqrt", {4, 0, -1, kInf}), ElementsAre(0.5, kInf, IsNan(), 0));
  EXPECT_THAT(of("exp", {-kInf, kInf, kNan}), ElementsAre(0, kInf, IsNan()));
  EXPECT_THAT(of("tanh", {-kInf, kInf}), ElementsAre(-1, 1));
  EXPECT_THAT(of("sigmoid", {-kInf, kInf}), ElementsAre(0, 1));
  EXPECT_THAT(of("neg", {1, -kInf}), ElementsAre(-1, kInf));
  EXPECT_THAT(of("abs", {-1, -kInf, kNan}), ElementsAre(1, kInf, IsNan()));
}

TEST(Unary, ClampHasOneBoundOrTwo) {
  const std::vector<double> x = {-3, 0.5, 3, kInf, -kInf, kNan};
  EXPECT_THAT(of("clamp", x, {{"min", "-1"}, {"max", "2"}}),
              ElementsAre(-1, 0.5, 2, 2, -1, IsNan()));
  on_every_isa([&] {
    const auto native = [&](const AttrTexts& attrs) {
      return kernel_values("clamp", "native", DType::fp32, {x}, attrs);
    };
    EXPECT_THAT(native({{"min", "-1"}, {"max", "2"}}), ElementsAre(-1, 0.5, 2, 2, -1, IsNan()));
    EXPECT_THAT(native({{"min", "-1"}}), ElementsAre(-1, 0.5, 3, kInf, -1, IsNan()));
    EXPECT_THAT(native({{"max", "2"}}), ElementsAre(-3, 0.5, 2, 2, -kInf, IsNan()));
    EXPECT_THAT(native({}), ElementsAre(-3, 0.5, 3, kInf, -kInf, IsNan()));
  });
}

TEST(Unary, VariantsAreAccurateOnEveryExponent) {
  const std::vector<double> x = numbers_of_every_exponent();
  on_every_isa([&] {
    expect_accurate({"exp", [](double v) { return std::exp(v); }, 3e-7}, x);
    expect_accurate({"log", [](double v) { return std::log(v); }, 5e-7}, x);
    expect_accurate({"sqrt", [](double v) { return std::sqrt(v); }, 6e-8}, x);
    expect_accurate({"rsqrt", [](double v) { return 1 / std::sqrt(v); }, 2e-7}, x);
    expect_accurate({"tanh", [](double v) { return std::tanh(v); }, 5e-7}, x);
    expect_accurate({"sigmoid", [](double v) { return 1 / (1 + std::exp(-v)); }, 4e-7}, x);
    expect_accurate({"gelu", exact_gelu, 1e-5}, x);
    expect_accurate({"pow", [](double v) { return v * v * v; }, 2e-7, {{"exponent", "3"}}}, x);
    expect_accurate({"pow", [](double v) { return std::pow(v, 1.5); }, 3e-5, {{"exponent", "1.5"}}},
                    x);
    expect_accurate({"gelu", exact_gelu_tanh, 2e-5, {{"approximate", "tanh"}}}, x);
  });
}

// Source: C11 F.10.4.4, which every variant follows, and PyTorch 1.13 for 0.5 and -0.5.
TEST(Unary, PowersOfWhatIsNoNumber) {
  const std::vector<double> x = {0, -0.0, -2, kInf, -kInf, kNan};
  const auto expect_powers = [&](const char* exponent, const auto& expected) {
    EXPECT_THAT(of("pow", x, {{"exponent", exponent}}), expected);
    on_every_isa([&] {
      EXPECT_THAT(kernel_values("pow", "native", DType::fp32, {x}, {{"exponent", exponent}}),
                  expected);
    });
  };
  expect_powers("0", ElementsAre(1, 1, 1, 1, 1, 1));
  expect_powers("3", ElementsAre(0, 0, -8, kInf, -kInf, IsNan()));
  expect_powers("-1", ElementsAre(kInf, -kInf, -0.5, 0, 0, IsNan()));
  expect_powers("0.5", ElementsAre(0, 0, IsNan(), kInf, IsNan(), IsNan()));
  expect_powers("-0.5", ElementsAre(kInf, -kInf, IsNan(), 0, IsNan(), IsNan()));
  expect_powers("-2.5", ElementsAre(kInf, kInf, IsNan(), 0, 0, IsNan()));
  expect_powers("17", ElementsAre(0, 0, DoubleNear(-131072, 1), kInf, -kInf, IsNan()));
}

// sign(0) is 0, and sign(NaN) is 0.
TEST(UnaryGrad, ByHand) {
  EXPECT_THAT(grad_of("abs_grad", {2, 3, 4, 5}, {-7, 7, 0, kNan}), ElementsAre(-2, 3, 0, 0));
  EXPECT_THAT(grad_of("pow_grad", {2, 1}, {3, kNan}, {{"exponent", "3"}}),
              ElementsAre(54, IsNan()));
  EXPECT_THAT(grad_of("pow_grad", {2, 1}, {3, kNan}, {{"exponent", "0"}}), ElementsAre(0, 0));
  EXPECT_THAT(grad_of("sqrt_grad", {3, 1}, {2, 0}), ElementsAre(0.75, kInf));
  EXPECT_THAT(grad_of("rsqrt_grad", {3}, {2}), ElementsAre(-12));
  EXPECT_THAT(grad_of("tanh_grad", {4, 5}, {0.5, -1}), ElementsAre(3, 0));
  EXPECT_THAT(grad_of("sigmoid_grad", {4, 5}, {0.25, 1}), ElementsAre(0.75, 0));
  // Both forms of gelu have a slope of 1/2 at 0.
  EXPECT_THAT(grad_of("gelu_grad", {4}, {0}), ElementsAre(2));
  EXPECT_THAT(grad_of("gelu_grad", {4}, {0}, {{"approximate", "tanh"}}), ElementsAre(2));
}

// The gradient uses the root of x. Source: PyTorch 1.13.
TEST(UnaryGrad, PowersByRoots) {
  const std::vector<double> dy = {1, 1, 1}, x = {4, -kInf, -0.0};
  const auto of_half = ElementsAre(0.25, IsNan(), -kInf);
  const auto of_three_halves = ElementsAre(3, IsNan(), 0);
  EXPECT_THAT(grad_of("pow_grad", dy, x, {{"exponent", "0.5"}}), of_half);
  EXPECT_THAT(grad_of("pow_grad", dy, x, {{"exponent", "1.5"}}), of_three_halves);
  on_every_isa([&] {
    const auto native = [&](const char* exponent) {
      return kernel_values("pow_grad", "native", DType::fp32, {dy, x}, {{"exponent", exponent}});
    };
    EXPECT_THAT(native("0.5"), of_half);
    EXPECT_THAT(native("1.5"), of_three_halves);
  });
}

// The gradient passes at the bounds. NaN is outside every interval.
TEST(UnaryGrad, ClampClosesOutsideItsBounds) {
  const std::vector<double> dy = {1, 2, 3, 4, 5, kInf}, x = {-2, -1, 0, 2, kNan, 3};
  const AttrTexts bounds = {{"min", "-1"}, {"max", "2"}};
  EXPECT_THAT(grad_of("clamp_grad", dy, x, bounds), ElementsAre(0, 2, 3, 4, 0, 0));
  on_every_isa([&] {
    EXPECT_THAT(kernel_values("clamp_grad", "native", DType::fp32, {dy, x}, bounds),
                ElementsAre(0, 2, 3, 4, 0, 0));
    EXPECT_THAT(kernel_values("clamp_grad", "native", DType::fp32, {dy, x}),
                ElementsAre(1, 2, 3, 4, 0, kInf));
  });
}

// Intermediate products would overflow or vanish; the results do not.
TEST(UnaryGrad, NothingBetweenOverflows) {
  const double largest = 0x1.fffffep127, least = 0x1p-149;
  on_every_isa([&] {
    const auto native = [](const char* op, double dy, double saved) {
      return kernel_values(op, "native", DType::fp32, {{dy}, {saved}})[0];
    };
    EXPECT_EQ(native("sqrt_grad", largest, 0.75), largest / 1.5);
    EXPECT_EQ(native("sqrt_grad", least, least), 0.5);
    EXPECT_EQ(native("rsqrt_grad", largest, 1), -largest / 2);
    const auto pow_grad = [](const char* exponent, double dy, double x) {
      return kernel_values("pow_grad", "native", DType::fp32, {{dy}, {x}},
                           {{"exponent", exponent}})[0];
    };
    EXPECT_EQ(pow_grad("2", 0.5, largest), largest);
    EXPECT_EQ(pow_grad("2.5", 0x1p127, 0.25), 0x1.4p125);
    EXPECT_EQ(pow_grad("4", 0x1p-100, 0x1p60), 0x1p82);
    EXPECT_EQ(pow_grad("-1", 0x1p-100, 0x1p-70), -0x1p40);
    EXPECT_EQ(native("tanh_grad", largest, -1), 0);
    EXPECT_EQ(native("gelu_grad", 1, largest), 1);
  });
}

}  // namespace opbench
