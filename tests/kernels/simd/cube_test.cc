// Tests the cube unit of Ascend 910: fp16 operands, blocks of 16.
#include "kernels/simd/cube.h"

#include <gtest/gtest.h>

#include <limits>
#include <vector>

#include "tensor/half.h"
#include "tests/evaluate.h"

namespace opbench {
namespace {

std::vector<float> operands(const std::vector<float>& values) {
  std::vector<float> result(values.size());
  load_operands(DType::fp32, values.data(), static_cast<std::int64_t>(values.size()),
                result.data());
  return result;
}

std::string refusal_of(DType dtype, Format format) {
  return cube_refusal(problem_with(find_op("relu"), {{2, 32, 4, 4}}, {}, dtype, format));
}

}  // namespace

TEST(Cube, RoundsUpToBlocks) {
  EXPECT_EQ(round_up_to_cube(0), 0);
  EXPECT_EQ(round_up_to_cube(1), 16);
  EXPECT_EQ(round_up_to_cube(16), 16);
  EXPECT_EQ(round_up_to_cube(17), 32);
}

// fp16 has 11 bits. 1 + 2^-11 is a tie and goes to the even 1; 1 + 3*2^-11 goes to 1 + 2^-9.
TEST(Cube, OperandsAreNarrowedToFp16) {
  EXPECT_EQ(operands({1 + 0x1p-11F, 1 + 3 * 0x1p-11F, 0x1p-24F, 0x1p-26F}),
            (std::vector<float>{1, 1 + 0x1p-9F, 0x1p-24F, 0}));
}

TEST(Cube, OperandsBeyondFp16AreItsLargest) {
  const float inf = std::numeric_limits<float>::infinity();
  EXPECT_EQ(operands({1e6F, -1e6F, 65504, inf}), (std::vector<float>{65504, -65504, 65504, 65504}));
}

// Operands are narrowed 256 at a time.
TEST(Cube, OperandsOfEveryCount) {
  for (const std::size_t count : {0, 1, 255, 256, 257, 600}) {
    std::vector<float> values(count);
    for (std::size_t i = 0; i < count; ++i) values[i] = static_cast<float>(i);
    EXPECT_EQ(operands(values), values) << count;
  }
}

TEST(Cube, SumsAreRoundedWhenTheyAreStored) {
  const std::vector<float> sums = {1 + 0x1p-11F, -2.5F};
  std::vector<half> halves(2);
  std::vector<float> floats(2);
  store_floats(DType::fp16, sums.data(), 2, halves.data());
  load_floats(DType::fp16, halves.data(), 2, floats.data());
  EXPECT_EQ(floats, (std::vector<float>{1, -2.5F}));
  std::vector<bfloat16> brains(2);
  store_floats(DType::bf16, sums.data(), 2, brains.data());
  load_floats(DType::bf16, brains.data(), 2, floats.data());
  EXPECT_EQ(floats, (std::vector<float>{1, -2.5F}));
  store_floats(DType::fp32, sums.data(), 2, floats.data());
  EXPECT_EQ(floats, sums);
}

TEST(Cube, SaysWhatItDoesNotTake) {
  EXPECT_EQ(refusal_of(DType::fp32, Format::NCHW), "");
  EXPECT_EQ(refusal_of(DType::fp16, Format::NC1HWC0), "");
  EXPECT_EQ(refusal_of(DType::bf16, Format::NCHW),
            "the cube unit of Ascend 910 takes fp16, and fp32 narrowed to it, not bf16");
}

}  // namespace opbench
