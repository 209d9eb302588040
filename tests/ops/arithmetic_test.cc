#include <gmock/gmock.h>

#include "tensor/error.h"
#include "tests/evaluate.h"
#include "tests/on_tensors.h"
#include "tests/support.h"
#include "tests/support/non_finite.h"

namespace opbench {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsNan;
using testing::ThrowsMessage;

TEST(Add, AddsAndKeepsNonfinite) {
  EXPECT_THAT(reference_values("add", DType::fp32, {{1, 2.5, kInf, kInf}, {2, -1, 1, -kInf}}),
              ElementsAre(3, 1.5, kInf, IsNan()));
}

TEST(Mul, MultipliesAndKeepsNonfinite) {
  EXPECT_THAT(reference_values("mul", DType::fp32, {{3, 2.5, kInf, kInf}, {2, -1, -1, 0}}),
              ElementsAre(6, -2.5, -kInf, IsNan()));
}

// fp16 cannot hold 2^11 + 1. The fp16 input is promoted, so the sum is computed in fp32.
TEST(Add, PromotesTheNarrowerInput) {
  const std::vector<Given> inputs = {{DType::fp16, {3}, {2048, 0.5, -1}},
                                     {DType::fp32, {3}, {1, 0x1p-20, 1}}};
  EXPECT_THAT(reference_of_tensors("add", inputs),
              ElementsAre(ElementsAre(2049, 0.5 + 0x1p-20, 0)));
  EXPECT_THAT(kernel_on_tensors("add", "native", inputs),
              ElementsAre(ElementsAre(2049, 0.5 + 0x1p-20, 0)));
}

// 1.5 * 1.0078125 = 1.51171875 needs 9 bits; bf16 has 8.
TEST(Mul, OfFp16AndBf16IsFp32) {
  const std::vector<Given> inputs = {{DType::bf16, {2}, {1.0078125, 3}},
                                     {DType::fp16, {2}, {1.5, -0.5}}};
  EXPECT_THAT(kernel_on_tensors("mul", "native", inputs),
              ElementsAre(ElementsAre(1.51171875, -1.5)));
}

// The inputs are longer than the block that is converted at a time; the last block is a tail.
TEST(Add, PromotesInPieces) {
  Given narrow{DType::fp16, {2500}, std::vector<double>(2500)};
  for (std::size_t i = 0; i < 2500; ++i) narrow.values[i] = double(i % 2048);
  const Given wide{DType::fp32, {2500}, std::vector<double>(2500, 0.125)};
  on_every_isa([&] {
    for (const int threads : {1, 2}) {
      const Values sums = kernel_on_tensors("add", "native", {wide, narrow}, {}, threads);
      for (std::size_t i = 0; i < 2500; ++i) ASSERT_EQ(sums[0][i], double(i % 2048) + 0.125) << i;
    }
  });
}

TEST(Muls, Multiplies) {
  EXPECT_THAT(reference_values("muls", DType::fp32, {{3, -2, kInf}}, {{"value", "-0.5"}}),
              ElementsAre(-1.5, 1, -kInf));
}

TEST(Adds, AddsANumber) {
  EXPECT_THAT(reference_values("adds", DType::fp32, {{3, -2, kInf}}, {{"value", "-0.5"}}),
              ElementsAre(2.5, -2.5, kInf));
}

TEST(Axpy, AddsAMultiple) {
  EXPECT_THAT(
      reference_values("axpy", DType::fp32, {{1, 2, kInf}, {10, -3, 1}}, {{"alpha", "0.5"}}),
      ElementsAre(6, 0.5, kInf));
}

// The gradients of x1 + alpha*x2 are dy and alpha*dy.
TEST(Axpy, GradientOfX2IsScaled) {
  const Op& op = find_op("axpy");
  const auto desc = describe(DType::fp32, {4});
  const Problem problem = make_problem(op, {desc, desc}, attrs_of(op, {{"alpha", "0.25"}}));
  const std::vector<GradientCall> calls = op.gradient(problem);
  ASSERT_EQ(calls.size(), 2u);
  EXPECT_EQ(calls[0].op, "");
  EXPECT_EQ(calls[1].op, "muls");
  EXPECT_EQ(calls[1].attrs.number("value"), 0.25);
  EXPECT_THAT(calls[1].of_inputs, ElementsAre(1u));
}

TEST(Mul, GradientsSwapTheFactors) {
  const Op& op = find_op("mul");
  const auto calls = op.gradient(example_problem(op, DType::fp32, Format::ND));
  ASSERT_EQ(calls.size(), 2u);
  EXPECT_EQ(calls[0].args[1].index, 1u);
  EXPECT_EQ(calls[1].args[1].index, 0u);
}

// 3*683/2048 = 1 + 2^-11 is a tie in fp16 and rounds to 1. Adding 2^-11 again gives a tie that
// rounds to 1. A sum that is rounded once is 1 + 2^-10.
TEST(Axpy, NativeRoundsTwice) {
  const std::vector<std::vector<double>> x = {{0x1p-11}, {683.0 / 2048}};
  on_every_isa([&] {
    EXPECT_THAT(kernel_values("axpy", "native", DType::fp16, x, {{"alpha", "3"}}), ElementsAre(1));
    EXPECT_THAT(kernel_values("axpy", "axpy", DType::fp16, x, {{"alpha", "3"}}),
                ElementsAre(1 + 0x1p-10));
  });
}

// (1 + 2^-10) * 2^-6 (1 - 2^-10) = 2^-6 - 2^-26. Added to 32 + 2^-5, the exact sum is below a tie
// of fp16. Rounding it to fp32 first gives the tie, which goes to the even 32 + 2^-4.
TEST(Axpy, RoundsHalfOnce) {
  const std::vector<std::vector<double>> x = {{32 + 0x1p-5, -32 - 0x1p-5, 32},
                                              {0x1.ff8p-7, -0x1.ff8p-7, 0x1.ff8p-7}};
  const AttrTexts alpha = {{"alpha", "1.0009765625"}};
  on_every_isa([&] {
    EXPECT_THAT(kernel_values("axpy", "axpy", DType::fp16, x, alpha),
                ElementsAre(32 + 0x1p-5, -32 - 0x1p-5, 32));
    EXPECT_THAT(kernel_values("axpy", "axpy_v2", DType::fp16, x, alpha),
                ElementsAre(32 + 0x1p-4, -32 - 0x1p-4, 32));
  });
}

// 0.1 in fp16 is 0.0999755859375; the sum of 4000 of them is 399.90234375.
TEST(Axpy, ScalarIsRoundedToTheDtype) {
  const AttrTexts alpha = {{"alpha", "0.1"}};
  for (const char* variant : {"axpy", "axpy_v2"}) {
    EXPECT_THAT(kernel_values("axpy", variant, DType::fp16, {{-400}, {4000}}, alpha),
                ElementsAre(-0.09765625))
        << variant;
  }
  EXPECT_THAT(kernel_values("muls", "muls", DType::fp16, {{1024}}, {{"value", "0.1"}}),
              ElementsAre(102.375));
  EXPECT_THAT(kernel_values("adds", "adds", DType::fp16, {{-0.0625}}, {{"value", "0.1"}}),
              ElementsAre(0.0999755859375 - 0.0625));
}

TEST(Axpy, RefusesAScalarThatTheDtypeLoses) {
  const Op& op = find_op("axpy");
  const auto desc = describe(DType::fp16, {4});
  const auto refused = [&](const char* alpha) {
    return refusal(find_kernel("axpy", "axpy"),
                   make_problem(op, {desc, desc}, attrs_of(op, {{"alpha", alpha}})));
  };
  EXPECT_EQ(refused("0"), "");
  EXPECT_EQ(refused("1e6"), "alpha = 1000000 is inf as fp16");
  EXPECT_EQ(refused("1e-9"), "alpha = 1e-09 is 0 as fp16");
  const Op& adds = find_op("adds");
  EXPECT_EQ(refusal(find_kernel("adds", "adds"),
                    make_problem(adds, {desc}, attrs_of(adds, {{"value", "1e-8"}}))),
            "value = 1e-08 is 0 as fp16");
}

}  // namespace opbench
