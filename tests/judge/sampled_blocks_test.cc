#include "judge/sampled_blocks.h"

#include <gtest/gtest.h>

namespace opbench {
namespace {

std::int64_t elements(const SampledBlocks& blocks) {
  std::int64_t sum = 0;
  for (std::int64_t i = 0; i < blocks.count(); ++i) sum += blocks.at(i).count;
  return sum;
}

TEST(SampledBlocks, AreAllOfASmallTensor) {
  for (const Dims& shape : {Dims{0}, Dims{1}, Dims{3, 100'000}}) {
    const TensorDesc desc = describe(DType::fp32, shape);
    const SampledBlocks blocks(desc, 300'000);
    EXPECT_EQ(blocks.count(), block_count(desc));
    EXPECT_EQ(elements(blocks), desc.elements());
  }
}

TEST(SampledBlocks, SpreadOverALargeOneFromTheFirstToTheLast) {
  constexpr std::int64_t kMost = 300'000;
  for (const Format format : {Format::NCHW, Format::NC1HWC0}) {
    const TensorDesc desc = describe(DType::fp16, {64, 32, 30, 31}, format);
    const SampledBlocks blocks(desc, kMost), again(desc, kMost);
    EXPECT_LE(elements(blocks), kMost + 2 * largest_block(desc));
    EXPECT_GE(elements(blocks), kMost / 2);
    EXPECT_EQ(blocks.at(0).first, 0);
    const ElementRange last = blocks.at(blocks.count() - 1);
    EXPECT_EQ(last.first + last.count, desc.elements());
    const std::int64_t widest = 3 * desc.elements() / blocks.count();
    for (std::int64_t i = 1; i < blocks.count(); ++i) {
      EXPECT_GT(blocks.at(i).first, blocks.at(i - 1).first);
      EXPECT_LT(blocks.at(i).first - blocks.at(i - 1).first, widest);
      EXPECT_EQ(blocks.at(i).first, again.at(i).first);
    }
  }
}

}  // namespace
}  // namespace opbench
