#include <gtest/gtest.h>

#include "profiles/profiled_tensor.h"
#include "tests/profiles/network_calls.h"

namespace opbench {
namespace {

ProfiledTensor one(const std::string& shape, const std::string& format,
                   const std::string& dtype = "FLOAT16") {
  return tensors_of(shape, dtype, format).at(0);
}

/// A single tensor, resolved by the learned shapes.
ProfiledTensor resolved(const LogicalShapes& shapes, const ProfiledTensor& tensor) {
  std::vector<ProfiledTensor> tensors = {tensor};
  shapes.resolve(tensors, false);
  return tensors[0];
}

const char* const kBlocks = "1,2,8,8,16";

}  // namespace

// 2 blocks of 16 hold at most 32 channels. A conversion shows that there are 20.
TEST(LogicalShapes, AreThoseThatConversionsShowed) {
  LogicalShapes shapes;
  const ProfiledTensor bound = resolved(shapes, one(kBlocks, "NC1HWC0"));
  EXPECT_EQ(bound.logical, (Dims{1, 32, 8, 8}));
  EXPECT_TRUE(bound.is_upper_bound);
  shapes.learn(one("1,20,8,8", "NCHW"), one(kBlocks, "NC1HWC0"), 1);
  const ProfiledTensor known = resolved(shapes, one(kBlocks, "NC1HWC0"));
  EXPECT_EQ(known.logical, (Dims{1, 20, 8, 8}));
  EXPECT_FALSE(known.is_upper_bound);
}

// 20 has the weight 1 + 1, 24 has 1.5. Both directions of a conversion count.
TEST(LogicalShapes, OfOneStorageAreTheLikeliest) {
  LogicalShapes shapes;
  shapes.learn(one("1,20,8,8", "NCHW"), one(kBlocks, "NC1HWC0"), 1);
  shapes.learn(one("1,24,8,8", "NCHW"), one(kBlocks, "NC1HWC0"), 1.5);
  EXPECT_EQ(resolved(shapes, one(kBlocks, "NC1HWC0")).logical, (Dims{1, 24, 8, 8}));
  shapes.learn(one(kBlocks, "NC1HWC0"), one("1,20,8,8", "NCHW"), 1);
  EXPECT_EQ(resolved(shapes, one(kBlocks, "NC1HWC0")).logical, (Dims{1, 20, 8, 8}));
}

// 40 channels need 3 blocks. A conversion from plain to plain teaches no blocks.
TEST(LogicalShapes, AreNotLearnedFromWhatDoesNotFit) {
  LogicalShapes shapes;
  shapes.learn(one("1,40,8,8", "NCHW"), one(kBlocks, "NC1HWC0"), 9);
  shapes.learn(one("1,20,8,8", "NCHW"), one("1,8,8,20", "NHWC"), 9);
  EXPECT_TRUE(resolved(shapes, one(kBlocks, "NC1HWC0")).is_upper_bound);
}

// The known channels of a tensor apply to other tensors with the same number of blocks.
TEST(LogicalShapes, ShareChannelsWithTensorsOfAsManyBlocks) {
  LogicalShapes shapes;
  shapes.learn(one("1,20,8,8", "NCHW"), one(kBlocks, "NC1HWC0"), 1);
  std::vector<ProfiledTensor> tensors = {one(kBlocks, "NC1HWC0"), one("1,2,4,4,16", "NC1HWC0"),
                                         one("1,3,4,4,16", "NC1HWC0")};
  shapes.resolve(tensors, true);
  EXPECT_EQ(tensors[1].logical, (Dims{1, 20, 4, 4}));
  EXPECT_FALSE(tensors[1].is_upper_bound);
  EXPECT_EQ(tensors[2].logical, (Dims{1, 48, 4, 4}));
  EXPECT_TRUE(tensors[2].is_upper_bound);
}

// 20 channels are 2 blocks: 18 = 2 * 3 * 3. The kernel is 3x3, with 1 block of 16 outputs.
TEST(LogicalShapes, OfAWeightFollowFromWhatItIsAppliedTo) {
  ProfiledTensor x = one("1,20,8,8", "NCHW"), weight = one("18,1,16,16", "FRACTAL_Z");
  resolve_weight(weight, x, 12);
  EXPECT_EQ(weight.logical, (Dims{12, 20, 3, 3}));
  ProfiledTensor other = one("18,1,16,16", "FRACTAL_Z");
  resolve_weight(other, x, 17);
  EXPECT_FALSE(other.logical) << "17 outputs are 2 blocks";
  ProfiledTensor uneven = one("20,1,16,16", "FRACTAL_Z");
  resolve_weight(uneven, x, 12);
  EXPECT_FALSE(uneven.logical) << "10 is no square";
  ProfiledTensor each = one("18,1,16,16", "FRACTAL_Z");
  resolve_depthwise_weight(each, x);
  EXPECT_EQ(each.logical, (Dims{20, 1, 3, 3}));
}

TEST(LogicalShapes, AreStoredInBlocks) {
  EXPECT_TRUE(is_stored_as({1, 20, 8, 8}, one(kBlocks, "NC1HWC0")));
  EXPECT_TRUE(is_stored_as({1, 32, 8, 8}, one(kBlocks, "NC1HWC0")));
  EXPECT_FALSE(is_stored_as({1, 16, 8, 8}, one(kBlocks, "NC1HWC0")));
  EXPECT_FALSE(is_stored_as({1, 20, 8, 9}, one(kBlocks, "NC1HWC0")));
}

}  // namespace opbench
