#include <gtest/gtest.h>

#include "ops/elementwise.h"

namespace opbench {

// The dtypes are those of torch.promote_types: neither of fp16 and bf16 holds the other.
TEST(Promotion, IsToTheWiderDtype) {
  EXPECT_EQ(promoted(DType::fp16, DType::fp32), DType::fp32);
  EXPECT_EQ(promoted(DType::fp64, DType::bf16), DType::fp64);
  EXPECT_EQ(promoted(DType::fp16, DType::bf16), DType::fp32);
  EXPECT_EQ(promoted(DType::bf16, DType::bf16), DType::bf16);
  constexpr DType kFloating[] = {DType::fp64, DType::fp32, DType::fp16, DType::bf16};
  for (const DType a : kFloating) {
    for (const DType b : kFloating) EXPECT_EQ(promoted(a, b), promoted(b, a));
  }
}

TEST(Promotion, IsOverAllInputs) {
  const TensorDesc half = describe(DType::fp16, {2}), brain = describe(DType::bf16, {2}),
                   wide = describe(DType::fp64, {2});
  EXPECT_EQ(promoted(std::vector{half, half}), DType::fp16);
  EXPECT_EQ(promoted(std::vector{half, brain}), DType::fp32);
  EXPECT_EQ(promoted(std::vector{half, brain, wide}), DType::fp64);
}

// An index has a dtype of its own and mixes nothing.
TEST(Promotion, IsNeededWhereInputsDiffer) {
  const Op& add = find_op("add");
  const TensorDesc half = describe(DType::fp16, {2}), single = describe(DType::fp32, {2});
  EXPECT_TRUE(has_mixed_dtypes(add, std::vector{half, single}));
  EXPECT_FALSE(has_mixed_dtypes(add, std::vector{half, half}));
  EXPECT_FALSE(
      has_mixed_dtypes(find_op("index_select"), std::vector{half, describe(DType::int32, {2})}));
}

}  // namespace opbench
