#include "ops/block_quant_matmul.h"

#include <gmock/gmock.h>

#include "tensor/error.h"
#include "tests/on_tensors.h"

namespace opbench {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::ThrowsMessage;

namespace {

const Given kX1{DType::fp8_e4m3fn, {1, 3}, {1, 2, 3}},
    kX2{DType::fp8_e4m3fn, {3, 2}, {1, 2, 3, 4, 5, 6}};

// Results of the reference, which all variants share.
std::vector<double> product(const std::vector<Given>& given, const AttrTexts& attrs) {
  const std::vector<double> y = reference_of_tensors("block_quant_matmul", given, attrs)[0];
  for (const char* variant : {"native", "block_quant_matmul"}) {
    EXPECT_EQ(kernel_on_tensors("block_quant_matmul", variant, given, attrs)[0], y) << variant;
  }
  return y;
}

}  // namespace

// Blocks of two terms: 1*1 + 2*3 = 7 and 1*2 + 2*4 = 10, then 3*5 = 15 and 3*6 = 18. x1 has scales
// 2 and 4. x2 has scales 1 and 2 (columns) in the first block, 8 and 16 in the second.
TEST(BlockQuantMatmul, SumsOfBlocksAreScaled) {
  const Given tokens{DType::fp32, {1, 2}, {2, 4}}, bias{DType::fp32, {2}, {1, 0}};
  const Given scale{DType::fp32, {2, 2}, {1, 2, 8, 16}};
  EXPECT_THAT(product({kX1, kX2, scale, tokens, bias},
                      {{"group_sizes", "[1,1,2]"}, {"output_dtype", "fp32"}}),
              ElementsAre(2 * 7 + 32 * 15 + 1, 4 * 10 + 64 * 18));
}

// The second scale of a pair belongs to the next block of terms. A block of two columns has one
// scale in the last product.
TEST(BlockQuantMatmul, PairsAndTransposedFactors) {
  const Given tokens{DType::e8m0, {1, 1, 2}, {2, 4}}, pairs{DType::e8m0, {1, 2, 2}, {1, 8, 2, 16}};
  const std::vector<double> y =
      product({kX1, kX2, pairs, tokens}, {{"group_sizes", "[1,1,2]"}, {"output_dtype", "fp32"}});
  EXPECT_THAT(y, ElementsAre(2 * 7 + 32 * 15, 4 * 10 + 64 * 18));
  const Given turned{DType::fp8_e4m3fn, {2, 3}, {1, 3, 5, 2, 4, 6}},
      turned_pairs{DType::e8m0, {2, 1, 2}, {1, 8, 2, 16}};
  EXPECT_EQ(product({kX1, turned, turned_pairs, tokens},
                    {{"group_sizes", "[1,1,2]"}, {"transpose_x2", "true"}}),
            y);
  const Given shared{DType::e8m0, {1, 1, 2}, {1, 8}};
  EXPECT_THAT(product({kX1, turned, shared, tokens},
                      {{"group_sizes", "[1,2,2]"}, {"transpose_x2", "true"}}),
              ElementsAre(2 * 7 + 32 * 15, 2 * 10 + 32 * 18));
}

TEST(BlockQuantMatmul, NamesTheAllowedScales) {
  const Given tokens{DType::fp32, {1, 2}, {2, 4}}, scale{DType::fp32, {1, 2}, {1, 1}};
  EXPECT_THAT(
      [&] {
        product({kX1, kX2, scale, tokens}, {{"group_sizes", "[1,1,2]"}, {"output_dtype", "fp32"}});
      },
      ThrowsMessage<Error>(
          HasSubstr("'scale' has shape 1x2; allowed with these group_sizes: 2x2")));
}

}  // namespace opbench
