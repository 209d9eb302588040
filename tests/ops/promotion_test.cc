#include <gtest/gtest.h>

#include "ops/elementwise.h"

namespace opbench {

// The dtypes are those of torch.promote_types: fp16 does not hold all of bf16, nor bf16 all of
// fp16.
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
  const TensorDesc fp16 = describe(DType::fp16, {2}), bf16 = describe(DType::bf16, {2}),
                   fp64 = describe(DType::fp64, {2});
  EXPECT_EQ(promoted(std::vector{fp16, fp16}), DType::fp16);
  EXPECT_EQ(promoted(std::vector{fp16, bf16}), DType::fp32);
  EXPECT_EQ(promoted(std::vector{fp16, bf16, fp64}), DType::fp64);
}

// An index has its own dtype and does not take part in promotion.
TEST(Promotion, IsNeededWhereInputsDiffer) {
  const Op& add = find_op("add");
  const TensorDesc fp16 = describe(DType::fp16, {2}), fp32 = describe(DType::fp32, {2});
  EXPECT_TRUE(has_mixed_dtypes(add, std::vector{fp16, fp32}));
  EXPECT_FALSE(has_mixed_dtypes(add, std::vector{fp16, fp16}));
  EXPECT_FALSE(
      has_mixed_dtypes(find_op("index_select"), std::vector{fp16, describe(DType::int32, {2})}));
}

}  // namespace opbench
