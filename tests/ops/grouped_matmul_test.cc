#include <gmock/gmock.h>

#include "tensor/error.h"
#include "tests/conforms.h"
#include "tests/ops/values.h"

namespace opbench {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::ThrowsMessage;

constexpr std::string_view kGrouped = "grouped_matmul";

Given grouped_fp32(const Dims& shape, std::vector<double> values) {
  return {kFp32, shape, std::move(values)};
}
Given group_list(std::vector<double> values) {
  return {DType::int64, {std::ssize(values)}, std::move(values)};
}

std::vector<double> group_products(const std::vector<Given>& inputs, const char* list_type) {
  const AttrTexts attrs = {{"group_list_type", list_type}};
  const std::vector<double> y = reference_of_tensors(kGrouped, inputs, attrs)[0];
  for (const char* variant : {"native", "grouped_matmul"}) {
    EXPECT_EQ(kernel_on_tensors(kGrouped, variant, inputs, attrs, 2)[0], y) << variant;
  }
  return y;
}

const Given kGroupedX = grouped_fp32({3, 2}, {1, 2, 3, 4, 5, 6});
const Given kGroupedWeight = grouped_fp32({3, 2, 1}, {1, 10, 2, 20, 100, 1000});

}  // namespace

// Row 0 belongs to group 0 and rows 1 and 2 to group 2; group 1 is empty.
TEST(GroupedMatMul, GroupsOfRows) {
  for (const auto& [list, type] :
       {std::pair(group_list({1, 1, 3}), "0"), {group_list({1, 0, 2}), "1"}}) {
    EXPECT_THAT(group_products({kGroupedX, kGroupedWeight, list}, type),
                ElementsAre(21, 4300, 6500));
    EXPECT_THAT(
        group_products({kGroupedX, kGroupedWeight, list, grouped_fp32({3, 1}, {0.5, 7, -1})}, type),
        ElementsAre(21.5, 4299, 6499));
  }
}

// Columns 0, none, and 1 of x with rows 0, none, and 1 of the weight.
TEST(GroupedMatMul, GroupsOfTerms) {
  EXPECT_THAT(
      group_products({kGroupedX, grouped_fp32({2, 1}, {1, 10}), group_list({1, 1, 2})}, "0"),
      ElementsAre(1, 3, 5, 0, 0, 0, 20, 40, 60));
}

// Rows (1 2), (3 4) and (5 6); row 0 belongs to group 0.
TEST(GroupedMatMul, Transposed) {
  const AttrTexts attrs = {{"transpose_x", "true"}, {"transpose_weight", "true"}};
  const std::vector<Given> inputs = {grouped_fp32({2, 3}, {1, 3, 5, 2, 4, 6}),
                                     grouped_fp32({2, 2, 2}, {1, 2, 3, 4, 5, 6, 7, 8}),
                                     group_list({1, 3})};
  EXPECT_THAT(agreed_values(kGrouped, inputs, attrs), ElementsAre(5, 11, 39, 53, 61, 83));
  EXPECT_THAT(kernel_on_tensors(kGrouped, "grouped_matmul", inputs, attrs)[0],
              ElementsAre(5, 11, 39, 53, 61, 83));
}

// The bias is added before the only rounding to bf16, whose steps are 2^-7 here.
TEST(GroupedMatMul, TakesABiasOfItsOwnDtype) {
  const Given x{DType::bf16, {1, 1}, {1}}, weight{DType::bf16, {1, 1, 1}, {1}};
  const std::vector<Given> inputs = {x, weight, group_list({1}), grouped_fp32({1, 1}, {0x1.8p-8})};
  for (const char* variant : {"native", "grouped_matmul"}) {
    EXPECT_THAT(kernel_on_tensors(kGrouped, variant, inputs)[0], ElementsAre(1 + 0x1p-7));
  }
}

// Tiles have 64 rows and 96 columns.
TEST(GroupedMatMul, AnyExtents) {
  for (const std::int64_t rows : {1, 63, 64, 65, 130}) {
    for (const std::int64_t columns : {1, 15, 96, 97}) {
      for (const DType dtype : {DType::fp32, DType::fp16}) {
        const Op& op = find_op(kGrouped);
        const Problem problem =
            problem_with(op, {{3 * rows, 33}, {3, 33, columns}, {3}}, {}, dtype);
        for (const char* variant : {"native", "grouped_matmul"}) {
          EXPECT_TRUE(expect_conforms(find_kernel(kGrouped, variant), problem, 2));
        }
      }
    }
  }
}

TEST(GroupedMatMul, Refusals) {
  const auto refused = [](const std::vector<Given>& inputs, const char* text) {
    EXPECT_THAT([&] { reference_of_tensors(kGrouped, inputs); },
                ThrowsMessage<Error>(HasSubstr(text)));
  };
  refused({kGroupedX, kGroupedWeight, group_list({1, 3})},
          "'weight' has shape 3x2x1; allowed: 2x2x1");
  refused({kGroupedX, grouped_fp32({3, 1}, {1, 2, 3}), group_list({1, 2})},
          "'weight' has shape 3x1; allowed: 2x1");
  refused({kGroupedX, kGroupedWeight, group_list({1, 0, 3})},
          "ends a group at 0 after 1; allowed: ascending");
  refused({kGroupedX, kGroupedWeight, group_list({0, 1, 2})},
          "'group_list' has 2 rows of 'x'; allowed: all 3");
  EXPECT_THAT(
      [] {
        find_op(kGrouped).gradient(
            problem_with(find_op(kGrouped), {{3, 2}, {2, 1}, {2}}, {}, kFp32));
      },
      ThrowsMessage<Error>(HasSubstr("the gradient takes groups of rows")));
  refused({kGroupedX, kGroupedWeight, group_list({0, 1, 3}), grouped_fp32({3}, {1, 2, 3})},
          "'bias' has shape 3; allowed: 3x1");
}

}  // namespace opbench
