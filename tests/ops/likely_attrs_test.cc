#include "ops/likely_attrs.h"

#include <gmock/gmock.h>

#include "ops/op.h"

namespace opbench {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

}  // namespace

TEST(LikelyAttrs, ReducedAxesAreThoseThatAreMissing) {
  EXPECT_EQ(with_reduced_axes({4, 5, 6}, {4, 6}), (Dims{4, 1, 6}));
  EXPECT_EQ(with_reduced_axes({4, 5, 6}, {}), (Dims{1, 1, 1}));
  EXPECT_EQ(with_reduced_axes({4, 5, 6}, {4, 1, 6}), (Dims{4, 1, 6}));
  EXPECT_EQ(with_reduced_axes({4, 5, 6}, {7}), (Dims{7}));
}

// A stride of 1 and no padding come first. A weight of 2 channels and an input of 8 make 4 groups.
TEST(LikelyAttrs, OfConvolutionsHaveGroups) {
  const LikelyAttrs all =
      find_op("conv2d").known_as.likely({{1, 8, 9, 9}, {8, 2, 3, 3}}, {{1, 8, 7, 7}});
  ASSERT_GT(all.size(), 2u);
  EXPECT_EQ(all[0], (NamedNumbers{{"strides", {1, 1}}, {"pads", {0, 0}}, {"groups", {4}}}));
  EXPECT_EQ(all[1], (NamedNumbers{{"strides", {1, 1}}, {"pads", {1, 1}}, {"groups", {4}}}));
  // The gradients derive these attributes from other shapes.
  EXPECT_EQ(
      find_op("conv2d_grad_input").known_as.likely({{1, 8, 7, 7}, {8, 2, 3, 3}}, {{1, 8, 9, 9}}),
      all);
  EXPECT_EQ(
      find_op("conv2d_grad_weight").known_as.likely({{1, 8, 7, 7}, {1, 8, 9, 9}}, {{8, 2, 3, 3}}),
      all);
}

TEST(LikelyAttrs, FollowFromShapes) {
  EXPECT_THAT(find_op("transpose").known_as.likely({{2, 3, 4}}, {{3, 4, 2}}),
              ElementsAre(NamedNumbers{{"perm", {1, 2, 0}}}));
  EXPECT_THAT(find_op("transpose").known_as.likely({{2, 3}}, {{2, 4}}), IsEmpty());
  EXPECT_THAT(find_op("reduce_mean").known_as.likely({{4, 5, 6}}, {{4, 6}}),
              ElementsAre(NamedNumbers{{"keep_dims", {0}}, {"axes", {1}}}));
  EXPECT_THAT(find_op("topk").known_as.likely({{4, 50}}, {{4, 5}}),
              ElementsAre(NamedNumbers{{"k", {5}}, {"dim", {1}}}));
  EXPECT_THAT(find_op("concat").known_as.likely({{2, 3}, {2, 4}}, {{2, 7}}),
              ElementsAre(NamedNumbers{{"axis", {0}}}, NamedNumbers{{"axis", {1}}}));
  EXPECT_THAT(find_op("max").known_as.likely({{3}}, {{}}),
              ElementsAre(NamedNumbers{{"dimension", {0}}},
                          NamedNumbers{{"dimension", {0}}, {"keep_dims", {1}}}));
}

TEST(LikelyAttrs, OfALossThatIsNoScalarNothingWasAddedUp) {
  EXPECT_THAT(find_op("mse_loss").known_as.likely({{4}, {4}}, {{4}}),
              ElementsAre(NamedNumbers{{"reduction", {0}}}));
  EXPECT_THAT(find_op("mse_loss").known_as.likely({{4}, {4}}, {{}}), IsEmpty());
  EXPECT_THAT(find_op("mse_loss_grad").known_as.likely({{}, {4}, {4}}, {{4}}), IsEmpty());
}

}  // namespace opbench
