#include "tensor/dtype.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <map>
#include <string>
#include <vector>

#include "tensor/elements.h"
#include "tensor/error.h"

namespace opbench {
namespace {

using testing::HasSubstr;

double rounded(DType dtype, double value) {
  std::uint64_t stored = 0;
  double back = 0;
  from_doubles(dtype, &value, 1, &stored);
  to_doubles(dtype, &stored, 1, &back);
  return back;
}

constexpr DType kFloating[] = {DType::fp16, DType::bf16, DType::fp32, DType::fp64};

}  // namespace

TEST(DType, SizesInBytes) {
  EXPECT_EQ(size_of(DType::fp64), 8u);
  EXPECT_EQ(size_of(DType::fp32), 4u);
  EXPECT_EQ(size_of(DType::fp16), 2u);
  EXPECT_EQ(size_of(DType::bf16), 2u);
  EXPECT_EQ(size_of(DType::int64), 8u);
  EXPECT_EQ(size_of(DType::int32), 4u);
  EXPECT_EQ(size_of(DType::int16), 2u);
  EXPECT_EQ(size_of(DType::int8), 1u);
  EXPECT_EQ(size_of(DType::uint8), 1u);
  EXPECT_EQ(size_of(DType::boolean), 1u);
  for (const DType dtype : kAllDTypes) {
    EXPECT_EQ(size_of(dtype) == 1, dtype >= DType::int8) << name(dtype);
  }
}

TEST(DType, NamesParseBack) {
  for (const DType dtype : kAllDTypes) EXPECT_EQ(parse_dtype(name(dtype)), dtype) << name(dtype);
}

// The spellings of numpy, PyTorch, ge::DataType (DT_) and aclDataType (ACL_).
TEST(DType, ForeignSpellings) {
  const std::map<DType, std::vector<std::string>> spellings = {
      {DType::fp64, {"float64", "double", "DT_DOUBLE", "DOUBLE", "torch.float64", "np.float64"}},
      {DType::fp32, {"float32", "float", "DT_FLOAT", "FLOAT", "torch.float32", "ACL_FLOAT"}},
      {DType::fp16, {"float16", "half", "DT_FLOAT16", "FLOAT16", "torch.float16", "torch.half"}},
      {DType::bf16, {"bfloat16", "DT_BF16", "BFLOAT16", "torch.bfloat16", "ACL_BF16"}},
      {DType::int64, {"long", "DT_INT64", "INT64", "torch.int64", "numpy.int64"}},
      {DType::int32, {"int", "DT_INT32", "INT32", "torch.int32", "torch.int"}},
      {DType::int16, {"short", "DT_INT16", "INT16", "torch.int16"}},
      {DType::int8, {"DT_INT8", "INT8", "torch.int8"}},
      {DType::uint8, {"byte", "DT_UINT8", "UINT8", "torch.uint8"}},
      {DType::boolean, {"boolean", "DT_BOOL", "BOOL", "torch.bool"}},
      {DType::fp8_e4m3fn, {"torch.float8_e4m3fn", "FLOAT8_E4M3FN", "DT_FLOAT8_E4M3FN"}},
      {DType::fp8_e5m2, {"torch.float8_e5m2", "FLOAT8_E5M2", "ACL_FLOAT8_E5M2"}},
      {DType::hif8, {"torch_npu.hifloat8", "HIFLOAT8", "DT_HIFLOAT8"}},
      {DType::e8m0, {"torch.float8_e8m0fnu", "FLOAT8_E8M0", "ACL_FLOAT8_E8M0"}},
      {DType::int4, {"DT_INT4", "ACL_INT4"}},
  };
  for (const auto& [dtype, texts] : spellings) {
    for (const std::string& text : texts) EXPECT_EQ(parse_dtype(text), dtype) << text;
  }
}

TEST(DType, ErrorListsWhatIsAllowed) {
  for (const std::string text : {"", "float8", "fp16 ", "torch.", "complex64"}) {
    try {
      parse_dtype(text);
      ADD_FAILURE() << "accepted '" << text << "'";
    } catch (const Error& error) {
      EXPECT_THAT(error.what(), HasSubstr("'" + text + "'"));
      for (const DType dtype : kAllDTypes) {
        EXPECT_THAT(error.what(), HasSubstr(std::string(name(dtype))));
      }
    }
  }
}

TEST(DType, FloatingOnes) {
  for (const DType dtype : kAllDTypes) {
    const bool floating =
        name(dtype).starts_with("fp") || name(dtype).starts_with("bf") || is_byte_float(dtype);
    EXPECT_EQ(is_floating(dtype), floating) << name(dtype);
  }
}

// Rounding keeps the largest number and changes a number that is 2^-7 larger. Source: IEEE 754.
// fp32 has 24 bits of precision, fp16 11, fp64 53; bf16 has 8.
TEST(Precision, LargestFinite) {
  for (const DType dtype : kFloating) {
    const double largest = largest_finite(dtype);
    EXPECT_EQ(rounded(dtype, largest), largest) << name(dtype);
    EXPECT_TRUE(std::isinf(rounded(dtype, largest * (1 + 0x1p-7)))) << name(dtype);
  }
  EXPECT_EQ(largest_finite(DType::int32), 0);
}

// From the smallest normal number on, numbers keep all their bits.
TEST(Precision, SmallestNormal) {
  constexpr double kBits = 1 + 0x1p-7;  // the precision of bf16
  for (const DType dtype : {DType::bf16, DType::fp16}) {
    const double least = smallest_normal(dtype);
    EXPECT_EQ(rounded(dtype, least * kBits), least * kBits) << name(dtype);
  }
  EXPECT_NE(rounded(DType::bf16, 0x1p-127 * kBits), 0x1p-127 * kBits);
  EXPECT_EQ(smallest_normal(DType::fp32), double(std::numeric_limits<float>::min()));
  EXPECT_EQ(smallest_normal(DType::fp64), std::numeric_limits<double>::min());
  EXPECT_EQ(smallest_normal(DType::fp16), 0x1p-14);
}

TEST(UlpDistance, NeighboursAreOneApart) {
  EXPECT_EQ(ulp_distance(DType::fp64, 1, 1 + 0x1p-52), 1);
  EXPECT_EQ(ulp_distance(DType::fp32, 1, 1 + 0x1p-23), 1);
  EXPECT_EQ(ulp_distance(DType::fp32, 1, 1 - 0x1p-24), 1) << "closer below a power of two";
  EXPECT_EQ(ulp_distance(DType::fp16, 1, 1 + 0x1p-10), 1);
  EXPECT_EQ(ulp_distance(DType::bf16, 1, 1 + 0x1p-7), 1);
  EXPECT_EQ(ulp_distance(DType::fp16, 1 + 0x1p-9, 1), 2) << "in either direction";
}

TEST(UlpDistance, GoesThroughZero) {
  EXPECT_EQ(ulp_distance(DType::fp32, 0.0, -0.0), 0);
  EXPECT_EQ(ulp_distance(DType::fp32, 0x1p-149, -0x1p-149), 2);
  EXPECT_EQ(ulp_distance(DType::fp16, -0x1p-24, 0x1p-23), 3);
  EXPECT_EQ(ulp_distance(DType::fp64, -0x1p-1074, 0x1p-1073), 3);
}

// Between 1 and 2 there are as many numbers as values of the fraction, between 1 and 4 twice as
// many.
TEST(UlpDistance, CountsRepresentableNumbers) {
  EXPECT_EQ(ulp_distance(DType::fp32, 1, 4), 0x1p24);
  EXPECT_EQ(ulp_distance(DType::bf16, 1, 2), 128);
  const double inf = std::numeric_limits<double>::infinity();
  EXPECT_EQ(ulp_distance(DType::fp16, 65504, inf), 1) << "infinity is the next after the largest";
}

TEST(UlpDistance, OfIntegersIsTheDifference) {
  EXPECT_EQ(ulp_distance(DType::int32, 7, 4), 3);
  EXPECT_EQ(ulp_distance(DType::int64, -2, 3), 5);
}

}  // namespace opbench
