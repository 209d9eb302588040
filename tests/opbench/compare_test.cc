#include "opbench/compare.h"

#include <gmock/gmock.h>

#include <cmath>
#include <cstdint>
#include <vector>

#include "tensor/error.h"

namespace opbench {
namespace {

using testing::HasSubstr;
using Verdict = BufferComparison::Verdict;

template <class T>
BufferComparison compared(DType dtype, const std::vector<T>& actual, const std::vector<T>& expected,
                          std::string_view standard = "mixed") {
  return compare_buffers(dtype, {std::int64_t(expected.size())}, actual.data(), expected.data(),
                         standard);
}

TEST(CompareBuffers, ErrorsOfFourNumbers) {
  // The errors are 0, 0.5, 0, -1. Their mean is 0.375, their rms is the root of (0.25 + 1)/4. The
  // relative errors are 0.25 and 0.125.
  const auto result = compared<float>(DType::fp32, {1, 2.5F, 4, 7}, {1, 2, 4, 8}, "prec=0.75");
  EXPECT_EQ(result.verdict, Verdict::failed);
  EXPECT_EQ(result.reason, "1 of 4 elements differ by more than 0.75; worst at [3]: 7, expected 8");
  EXPECT_EQ(result.elements, 4);
  EXPECT_EQ(result.unequal, 2);
  EXPECT_EQ(result.mismatches, 0);
  EXPECT_EQ(result.inside_share, 0.75);
  EXPECT_EQ(result.max_abs, 1);
  EXPECT_EQ(result.mean_abs, 0.375);
  EXPECT_EQ(result.max_rel, 0.25);
  EXPECT_EQ(result.mean_rel, 0.09375);
  EXPECT_DOUBLE_EQ(result.rmse, std::sqrt(0.3125));
  EXPECT_EQ(result.worst_index, 3);
}

TEST(CompareBuffers, TheWorstElementIsNamedByItsPlace) {
  const std::vector<std::int32_t> actual = {1, 2, 3, 4, 5, 7}, expected = {1, 2, 3, 4, 5, 6};
  const auto result = compare_buffers(DType::int32, {2, 3}, actual.data(), expected.data());
  EXPECT_EQ(result.verdict, Verdict::failed);
  EXPECT_THAT(result.reason, HasSubstr("1 of 6 elements differ; worst at [1,2]: 7, expected 6"));
}

TEST(CompareBuffers, HalfTypesAreTheir16Bits) {
  // 1.0 and the next number above are 0x3C00 and 0x3C01 in fp16, 0x3F80 and 0x3F81 in bf16.
  const auto fp16 = compared<std::uint16_t>(DType::fp16, {0x3C01, 0x4000}, {0x3C00, 0x4000});
  EXPECT_EQ(fp16.max_ulp, 1);
  EXPECT_EQ(fp16.max_abs, std::ldexp(1, -10));
  EXPECT_EQ(fp16.verdict, Verdict::passed);
  const auto bf16 = compared<std::uint16_t>(DType::bf16, {0x3F81, 0x4000}, {0x3F80, 0x4000});
  EXPECT_EQ(bf16.max_ulp, 1);
  EXPECT_EQ(bf16.max_abs, std::ldexp(1, -7));
}

TEST(CompareBuffers, EveryOtherDTypeIsReadAsStored) {
  EXPECT_EQ(compared<double>(DType::fp64, {1, 3}, {1, 2}).max_abs, 1);
  EXPECT_EQ(compared<std::int64_t>(DType::int64, {1, -3}, {1, 2}).max_abs, 5);
  EXPECT_EQ(compared<std::int16_t>(DType::int16, {1, -3}, {1, 2}).max_abs, 5);
  EXPECT_EQ(compared<std::int8_t>(DType::int8, {1, -128}, {1, 127}).max_abs, 255);
  EXPECT_EQ(compared<std::uint8_t>(DType::uint8, {1, 0}, {1, 255}).max_abs, 255);
  EXPECT_EQ(compared<std::uint8_t>(DType::boolean, {1, 0}, {1, 1}).unequal, 1);
}

TEST(CompareBuffers, NanAndInfMustCoincide) {
  const float nan = NAN, inf = INFINITY;
  EXPECT_EQ(compared<float>(DType::fp32, {1, 2, nan, inf}, {1, 2, nan, inf}).verdict,
            Verdict::passed);
  const auto result = compared<float>(DType::fp32, {1, 2, nan, 4}, {1, 2, 3, -inf}, "cosine");
  EXPECT_EQ(result.verdict, Verdict::failed);
  EXPECT_EQ(result.mismatches, 2);
  EXPECT_EQ(result.reason, "1 NaN and 1 Inf on one side only, first at [2]: NaN, expected 3");
}

TEST(CompareBuffers, APassThatProvesLittleSaysWhy) {
  const auto result = compared<float>(DType::fp32, {3, 3}, {3, 3});
  EXPECT_EQ(result.verdict, Verdict::mistrusted);
  EXPECT_EQ(result.reason, "constant 3 expected");
  EXPECT_EQ(compared<float>(DType::fp32, {}, {}).verdict, Verdict::mistrusted);
}

TEST(CompareBuffers, WhatCannotBeComparedIsRefused) {
  const float one = 1;
  EXPECT_THROW(compare_buffers(DType::fp32, {-1}, &one, &one), Error);
  EXPECT_THROW(compare_buffers(DType::fp32, {1}, &one, &one, "precise"), Error);
  EXPECT_THROW(compare_buffers(DType::fp32, {1}, &one, &one, "cross-check"), Error);
}

}  // namespace
}  // namespace opbench
