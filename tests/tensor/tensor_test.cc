#include "tensor/tensor.h"

#include <gtest/gtest.h>

#include "tensor/error.h"

namespace opbench {

TEST(TensorDesc, DescribeChoosesOriginByRankAndC0ByDtype) {
  const TensorDesc images = describe(DType::fp16, {128, 64, 7, 7}, Format::NC1HWC0);
  EXPECT_EQ(images.origin, Format::NCHW);
  EXPECT_EQ(images.c0, 16);
  EXPECT_EQ(images.storage(), (Dims{128, 4, 7, 7, 16}));
  EXPECT_EQ(describe(DType::int8, {128, 64, 7, 7}, Format::NC1HWC0).c0, 32);
  EXPECT_EQ(describe(DType::fp32, {2, 3, 4, 5}).format, Format::NCHW);
  EXPECT_EQ(describe(DType::fp32, {2, 3, 4, 5, 6}).format, Format::NCDHW);
  EXPECT_EQ(describe(DType::fp32, {2, 3}).format, Format::ND);
}

TEST(TensorDesc, BytesCountPadding) {
  EXPECT_EQ(describe(DType::fp16, {1, 17, 3, 3}, Format::NC1HWC0).bytes(), 2u * 2 * 3 * 3 * 16);
  EXPECT_EQ(describe(DType::fp16, {1, 17, 3, 3}).bytes(), 2u * 17 * 3 * 3);
  EXPECT_EQ(describe(DType::fp64, {}).bytes(), 8u);
}

TEST(TensorDesc, OriginFormatIsStoredAsItsShapeSays) {
  TensorDesc desc = describe(DType::fp32, {2, 5, 6, 3});
  desc.origin = desc.format = Format::NHWC;
  EXPECT_EQ(desc.storage(), desc.shape);
}

TEST(TensorDesc, DescribeRejectsWhatCannotBe) {
  const std::int64_t big = std::int64_t{1} << 31;
  EXPECT_THROW(describe(DType::fp32, {2, -1}), Error);
  EXPECT_THROW(describe(DType::fp32, {big, big}), Error);     // 2^64 bytes
  EXPECT_THROW(describe(DType::fp32, {big, big, 4}), Error);  // 2^64 elements
  EXPECT_THROW(describe(DType::fp32, {1, 1, 1, 1, 1}, Format::NC1HWC0), Error);
  EXPECT_NO_THROW(describe(DType::int8, {big, big}));
}

TEST(TensorDesc, Text) {
  EXPECT_EQ(to_string(describe(DType::fp16, {128, 64, 7, 7}, Format::NC1HWC0)),
            "fp16[128x64x7x7] NC1HWC0");
  EXPECT_EQ(to_string(describe(DType::fp32, {})), "fp32[scalar] ND");
  TensorDesc weight = describe(DType::fp16, {8, 1, 3, 3}, Format::FRACTAL_Z);
  weight.groups = 8;
  EXPECT_EQ(to_string(weight), "fp16[8x1x3x3] FRACTAL_Z groups 8");
}

TEST(Tensor, IsZeroAndCanBeMoved) {
  Tensor tensor(describe(DType::int32, {3, 5}));
  for (int i = 0; i < 15; ++i) EXPECT_EQ(tensor.as<int>()[i], 0);
  tensor.as<int>()[14] = 7;
  const Tensor moved = std::move(tensor);
  EXPECT_EQ(moved.as<int>()[14], 7);
  EXPECT_TRUE(moved.buffer.guards_intact());
}

}  // namespace opbench
