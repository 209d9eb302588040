#include "judge/claims.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/evaluate.h"

namespace opbench {
namespace {

using testing::ElementsAre;

std::vector<std::string> names(std::string_view op, const std::vector<Dims>& shapes, DType dtype,
                               const Maker& maker) {
  std::vector<std::string> result;
  const Problem problem = problem_with(find_op(op), shapes, {}, dtype, Format::ND);
  for (const Claim& claim : claims_of(problem, 0, maker)) result.emplace_back(claim.name);
  return result;
}

std::vector<std::string> of_product(DType dtype, const Maker& maker) {
  return names("matmul", {{2, 3}, {3, 2}}, dtype, maker);
}

}  // namespace

TEST(Claims, StrictestFirst) {
  EXPECT_THAT(of_product(DType::fp32, {}), ElementsAre(""));
  EXPECT_THAT(names("exp", {{4}}, DType::fp32, {}), ElementsAre("", "approximate functions"));
}

TEST(Claims, SumsAreRoundedWhereDevicesDo) {
  EXPECT_THAT(of_product(DType::bf16, {.device = DeviceType::cpu}), ElementsAre("", "bf16 sums"));
  EXPECT_THAT(of_product(DType::bf16, {.device = DeviceType::npu}), ElementsAre(""));
  EXPECT_THAT(of_product(DType::fp16, {.device = DeviceType::npu}),
              ElementsAre("", "fp16 sums", "saturates at 65504"));
  EXPECT_THAT(of_product(DType::fp16, {}), ElementsAre("")) << "variants hold sums in fp32";
}

TEST(Claims, CompositionsRoundEachStep) {
  EXPECT_THAT(names("gelu", {{4}}, DType::fp16, {}), ElementsAre("", "fp16 steps"));
  EXPECT_THAT(names("softmax", {{4, 4}}, DType::fp16, {}), ElementsAre("")) << "held in fp32";
  EXPECT_THAT(names("add", {{4}, {4}}, DType::fp32, {}), ElementsAre(""));
}

TEST(Claims, VariantsThatRoundTheirOperands) {
  const Problem product =
      problem_with(find_op("matmul"), {{2, 3}, {3, 2}}, {}, DType::fp32, Format::ND);
  const std::vector<Claim> claims = claims_of(product, 0, {.operands = DType::fp16});
  ASSERT_EQ(claims.size(), 1U);
  EXPECT_EQ(claims[0].operand, 0x1p-11);
  EXPECT_THAT(of_product(DType::fp16, {.operands = DType::fp16}), ElementsAre(""));
  EXPECT_THAT(names("gelu", {{4}}, DType::fp32, {.operands = DType::fp16}),
              ElementsAre("fp16 steps"));
}

// 1 + 2^-11 is a tie in fp16 and TF32, 1 + 2^-8 is a tie in bf16. Both are rounded to even.
TEST(Claims, OperandsOfAMatrixUnit) {
  const std::vector<float> a = {1 + 0x1p-11F, 1 + 0x1p-8F, 1e5F, -1e5F}, b = {1, 2, 3, 4};
  const Problem product =
      problem_with(find_op("matmul"), {{2, 2}, {2, 2}}, {}, DType::fp32, Format::ND);
  const std::vector<InputReader> inputs = {{product.inputs[0], a.data()},
                                           {product.inputs[1], b.data()}};
  const auto narrowed = [&](OperandWidth width) {
    return InputReader(product.inputs[0], narrowed_operands(inputs, *product.op, width)[0].data())
        .read_all();
  };
  EXPECT_THAT(narrowed(OperandWidth::fp16), ElementsAre(1, 1 + 0x1p-8, 65504, -65504));
  EXPECT_THAT(narrowed(OperandWidth::tf32), ElementsAre(1, 1 + 0x1p-8, 99968, -99968));
  EXPECT_THAT(narrowed(OperandWidth::bf16), ElementsAre(1, 1, 99840, -99840));
  const auto count = [&](const Maker& maker) { return operand_claims_of(product, maker).size(); };
  EXPECT_EQ(count({.device = DeviceType::npu}), 3U);
  EXPECT_EQ(count({.device = DeviceType::cpu}), 0U);
  EXPECT_EQ(count({}), 0U);
}

TEST(Claims, DevicesThatSaturate) {
  const Problem product =
      problem_with(find_op("matmul"), {{2, 3}, {3, 2}}, {}, DType::fp16, Format::ND);
  EXPECT_TRUE(claims_of(product, 0, {.saturates = true})[0].saturates);
  EXPECT_FALSE(claims_of(product, 0, {})[0].saturates);
}

}  // namespace opbench
