#include "profiles/profiled_tensor.h"

#include <gmock/gmock.h>

namespace opbench {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

std::string problem_of(const std::string& shape, const std::string& dtype,
                       const std::string& format) {
  return tensors_of(shape, dtype, format).at(0).problem;
}

HotOperator stored(const std::string& shape, const std::string& format) {
  HotOperator one;
  one.type = "Relu";
  one.has_tensors = true;
  one.input_shapes = one.output_shapes = shape;
  one.input_dtypes = one.output_dtypes = "FLOAT16";
  one.input_formats = one.output_formats = format;
  return one;
}

}  // namespace

// NHWC stores N, H, W, C. The logical order is N, C, H, W.
TEST(ProfiledTensor, HasTheLogicalShapeOfPlainFormats) {
  EXPECT_EQ(tensors_of("2,4,5,3", "FLOAT", "NHWC")[0].logical, (Dims{2, 3, 4, 5}));
  EXPECT_EQ(tensors_of("4,5,3,2", "FLOAT", "HWCN")[0].logical, (Dims{2, 3, 4, 5}));
  EXPECT_EQ(tensors_of("2,3,4,5", "FLOAT", "NCHW")[0].logical, (Dims{2, 3, 4, 5}));
  EXPECT_FALSE(tensors_of("2,1,4,5,16", "FLOAT", "NC1HWC0")[0].logical);
  EXPECT_EQ(tensors_of("", "FLOAT", "ND")[0].logical, Dims{}) << "a scalar";
}

TEST(ProfiledTensor, ReadsTheSpellingsOfProfilers) {
  EXPECT_EQ(tensors_of("4", "DT_BF16", "FORMAT_ND")[0].dtype, DType::bf16);
  EXPECT_EQ(tensors_of("4", "DOUBLE", "NCL")[0].dtype, DType::fp64);
  EXPECT_EQ(tensors_of("1,1,4,4,16", "FLOAT16", "NC1HWC0:1")[0].format, Format::NC1HWC0);
  EXPECT_TRUE(tensors_of("", "UNDEFINED", "NULL")[0].is_absent);
  EXPECT_THAT(tensors_of("4", "N/A", "N/A"), IsEmpty());
  EXPECT_THAT(tensors_of("4;5;6", "FLOAT;FLOAT", "ND"), SizeIs(3)) << "the shapes count";
}

// The product of two extents above 2^31 would overflow.
TEST(ProfiledTensor, SaysWhyThereIsNone) {
  EXPECT_EQ(problem_of("4", "FLOAT", "ND"), "");
  EXPECT_EQ(problem_of("4", "COMPLEX64", "ND"), "dtype COMPLEX64");
  EXPECT_EQ(problem_of("4", "FLOAT", "NDX"), "format NDX");
  EXPECT_EQ(problem_of("4,x", "FLOAT", "ND"), "shape '4,x'");
  EXPECT_EQ(problem_of("-1", "FLOAT", "ND"), "shape '-1'");
  EXPECT_EQ(problem_of("4294967296", "FLOAT", "ND"), "extent 4294967296");
  EXPECT_NE(problem_of("2147483648,2147483648,2147483648", "FLOAT", "ND"), "");
  EXPECT_EQ(tensors_of("4;5", "FLOAT", "ND;ND")[1].problem, "dtype not given");
}

TEST(ProfiledTensor, OfALogHasBothShapes) {
  LoggedTensor logged;
  logged.dtype = 1;  // fp16
  logged.format = 0;
  logged.storage_format = 3;
  logged.shape = {1, 20, 8, 8};
  logged.storage_shape = {1, 2, 8, 8, 16};
  ProfiledTensor tensor = tensors_of(std::vector{logged}).at(0);
  EXPECT_EQ(tensor.dtype, DType::fp16);
  EXPECT_EQ(tensor.format, Format::NC1HWC0);
  EXPECT_EQ(tensor.logical, (Dims{1, 20, 8, 8}));
  EXPECT_EQ(tensor.storage, (Dims{1, 2, 8, 8, 16}));
  EXPECT_EQ(c0_of(tensor), 16);
  logged.storage_format = -1;
  EXPECT_EQ(tensors_of(std::vector{logged})[0].storage, (Dims{1, 20, 8, 8}));
  logged.shape[0] = -1;
  EXPECT_EQ(tensors_of(std::vector{logged})[0].problem, "dynamic shape");
  logged.dtype = 10;
  EXPECT_EQ(tensors_of(std::vector{logged})[0].problem, "dtype number 10");
}

// 2 blocks of 16 hold 20 or 32 channels, but not 33.
TEST(StoredOperator, IsTheSameInOtherFormats) {
  const StoredOperator plain(stored("1,20,8,8", "NCHW"));
  const StoredOperator blocks(stored("1,2,8,8,16", "NC1HWC0"));
  EXPECT_TRUE(plain.is_same_as(blocks));
  EXPECT_TRUE(blocks.is_same_as(plain));
  EXPECT_FALSE(StoredOperator(stored("1,33,8,8", "NCHW")).is_same_as(blocks));
  EXPECT_EQ(plain.changed_to(blocks), "NCHW -> NC1HWC0");
  EXPECT_EQ(plain.changed_to(plain), "");
  // Blocks of 16 state 17 to 32 channels, 4 blocks of 8 state 25 to 32.
  EXPECT_TRUE(blocks.is_same_as(StoredOperator(stored("1,4,8,8,8", "NC1HWC0"))));
  EXPECT_FALSE(blocks.is_same_as(StoredOperator(stored("1,5,8,8,8", "NC1HWC0"))));
  HotOperator mixed = stored("1,20,8,8", "NCHW");
  mixed.output_formats = "ND";
  EXPECT_EQ(StoredOperator(mixed).changed_to(blocks),
            "input 0 NCHW -> NC1HWC0, output 0 ND -> NC1HWC0");
}

}  // namespace opbench
