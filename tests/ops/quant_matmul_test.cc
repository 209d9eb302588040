#include "ops/quant_matmul.h"

#include <gmock/gmock.h>

#include "kernels/simd/integer_product.h"
#include "tensor/error.h"
#include "tests/on_tensors.h"
#include "tests/support.h"

namespace opbench {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::ThrowsMessage;

}  // namespace

// Sums 1*5 + 2*6 = 17 and 1*7 + 2*8 = 23; integer bias 1 and 2, scales 2 and 1, token scale 0.5.
TEST(QuantMatmul, OrderOfTheSteps) {
  const std::vector<Given> given = {
      {DType::int8, {1, 2}, {1, 2}}, {DType::int8, {2, 2}, {5, 7, 6, 8}},
      {DType::fp32, {2}, {2, 1}},    {DType::fp32, {0}, {}},
      {DType::int32, {2}, {1, 2}},   {DType::fp32, {1}, {0.5}}};
  EXPECT_THAT(reference_of_tensors("quant_batch_matmul_v3", given)[0], ElementsAre(18, 12.5));
  EXPECT_THAT(reference_of_tensors("quant_batch_matmul_v3", given, {{"output_dtype", "int8"}})[0],
              ElementsAre(18, 12));
}

TEST(QuantMatmul, NamesWhatItRefuses) {
  const Given x{DType::int8, {1, 1}, {1}}, floating{DType::fp8_e5m2, {1, 1}, {1}},
      scale{DType::fp32, {1}, {1}}, none{DType::fp32, {0}, {}}, bias{DType::int32, {1}, {1}};
  const auto refused = [](const std::vector<Given>& given, const char* output,
                          const char* message) {
    EXPECT_THAT(
        [&] {
          reference_of_tensors("quant_batch_matmul_v3", given, {{"output_dtype", output}});
        },
        ThrowsMessage<Error>(HasSubstr(message)));
  };
  Problem packed =
      problem_with(find_op("quant_batch_matmul_v3"), {{1, 1}, {1, 1}, {1}}, {}, DType::fp32);
  packed.inputs[2].dtype = DType::int64;  // as recorded
  EXPECT_THAT([&] { packed.op->check_values(packed, {}); },
              ThrowsMessage<Error>(HasSubstr("packed scales are not supported")));
  refused({floating, floating, scale, none, bias}, "fp16", "'bias' is int32 and 'x1' fp8_e5m2");
  refused({x, x, scale, scale}, "int32", "'offset' is given with output_dtype int32");
  refused({x, x, scale, none, scale}, "int32", "'bias' is given with output_dtype int32");
}

// (3 + 1)*0.5 = 2 and (5 + 1)*2 = 12 in two groups of one row.
TEST(WeightQuantMatmul, Groups) {
  EXPECT_THAT(reference_of_tensors("weight_quant_batch_matmul_v2",
                                   {{DType::fp16, {1, 2}, {10, 100}},
                                    {DType::int4, {2, 1}, {3, 5}},
                                    {DType::fp16, {2, 1}, {0.5, 2}},
                                    {DType::fp16, {2, 1}, {1, 1}}},
                                   {{"antiquant_group_size", "1"}})[0],
              ElementsAre(1220));
}

TEST(WeightQuantMatmul, RefusesOtherGroups) {
  EXPECT_THAT(
      [] {
        reference_of_tensors(
            "weight_quant_batch_matmul_v2",
            {{DType::fp16, {1, 2}, {1, 1}}, {DType::int8, {2, 1}, {3, 5}}, {DType::fp16, {1}, {1}}},
            {{"antiquant_group_size", "1"}});
      },
      ThrowsMessage<Error>(HasSubstr("allowed with groups of 1: 2x1")));
}

// Sizes around the tiles, with the largest products.
TEST(IntegerProduct, IsExact) {
  on_every_isa([] {
    constexpr std::int64_t kRows = 5, kColumns = 7, kPitch = 96;
    std::vector<std::int16_t> left(kRows * kPitch, -128), right(kColumns * kPitch, 127);
    left[kPitch + 3] = 5, right[2 * kPitch + 3] = -7;
    std::vector<std::int32_t> c(kRows * kColumns);
    integer_product(kRows, kColumns, kPitch, left.data(), right.data(), c.data(), kColumns);
    for (std::int64_t i = 0; i < kRows; ++i) {
      for (std::int64_t j = 0; j < kColumns; ++j) {
        std::int32_t sum = 0;
        for (std::int64_t k = 0; k < kPitch; ++k) {
          sum += left[std::size_t(i * kPitch + k)] * right[std::size_t(j * kPitch + k)];
        }
        EXPECT_EQ(c[std::size_t(i * kColumns + j)], sum) << i << ' ' << j;
      }
    }
  });
}

}  // namespace opbench
