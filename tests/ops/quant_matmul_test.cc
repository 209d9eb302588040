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

// 0x3F80'0000 is 1 in fp32; the lower 13 bits do not belong to a scale.
TEST(QuantMatmul, TakesPackedScales) {
  const std::vector<Given> given = {{DType::int8, {1, 2}, {1, 2}},
                                    {DType::int8, {2, 2}, {5, 7, 6, 8}},
                                    {DType::int64, {1}, {double(0x4000'3F80'0FFF)}}};
  EXPECT_THAT(reference_of_tensors("quant_batch_matmul_v3", given)[0], ElementsAre(17, 23));
  for (const char* variant : {"native", "quant_batch_matmul_v3"}) {
    EXPECT_THAT(kernel_on_tensors("quant_batch_matmul_v3", variant, given)[0], ElementsAre(17, 23));
  }
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

TEST(WeightQuantMatmul, SumsOfNoTermsAre0) {
  EXPECT_THAT(reference_of_tensors("weight_quant_batch_matmul_v2", {{DType::fp16, {1, 0}, {}},
                                                                    {DType::int8, {0, 2}, {}},
                                                                    {DType::fp16, {1}, {1}}})[0],
              ElementsAre(0, 0));
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

// Sizes around the tiles, with the largest products and both orders of the second factor.
TEST(IntegerProduct, IsExact) {
  on_every_isa([] {
    constexpr std::int64_t kRows = 11, kTerms = 39, kColumns = 21;
    std::vector<std::int8_t> left(kRows * kTerms, -128), right(kTerms * kColumns, 127);
    left[kTerms + 3] = 5, right[2 * kColumns + 3] = -7, right[20] = -128;
    std::vector<std::int8_t> turned(right.size());
    for (std::int64_t i = 0; i < kTerms * kColumns; ++i) {
      turned[std::size_t(i % kColumns * kTerms + i / kColumns)] = right[std::size_t(i)];
    }
    for (const IntegerForm form : {IntegerForm::pairs, integer_form()}) {
      const IntegerLayout layout{form, kTerms};
      std::vector<std::int8_t> rows(std::size_t(kRows * layout.row_bytes())),
          panel(std::size_t(layout.panel_bytes()));
      std::vector<std::int32_t> sums(kRows), c(kRows * kIntegerPanel);
      for (std::size_t i = 0; i < kRows; ++i) {
        sums[i] = pack_integer_row(layout, left.data() + i * kTerms, 1,
                                   rows.data() + i * std::size_t(layout.row_bytes()));
      }
      for (const bool is_turned : {false, true}) {
        pack_integer_panel(layout, (is_turned ? turned : right).data(), is_turned ? 1 : kColumns,
                           is_turned ? kTerms : 1, kColumns, panel.data());
        integer_product(layout, kRows, kColumns, rows.data(), sums.data(), panel.data(), c.data());
        for (std::int64_t i = 0; i < kRows * kColumns; ++i) {
          const std::int64_t row = i / kColumns, column = i % kColumns;
          std::int32_t sum = 0;
          for (std::int64_t k = 0; k < kTerms; ++k) {
            sum += left[std::size_t(row * kTerms + k)] * right[std::size_t(k * kColumns + column)];
          }
          EXPECT_EQ(c[std::size_t(row * kIntegerPanel + column)], sum) << row << ' ' << column;
        }
      }
    }
  });
}

}  // namespace opbench
