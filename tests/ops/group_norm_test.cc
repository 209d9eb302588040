#include "ops/group_norm.h"

#include <gmock/gmock.h>

#include "tensor/error.h"
#include "tests/ops/values.h"

namespace opbench {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::ThrowsMessage;

namespace {

void expect_both(std::string_view op, const std::vector<Given>& inputs, const AttrTexts& attrs,
                 const Values& expected) {
  EXPECT_EQ(reference_of_tensors(op, inputs, attrs), expected);
  EXPECT_EQ(kernel_on_tensors(op, "native", inputs, attrs), expected);
}

Dims group_norm_shape(const std::vector<Dims>& shapes, const AttrTexts& attrs) {
  return problem_with(find_op("group_norm"), shapes, attrs, kFp32).outputs[1].shape;
}

}  // namespace

// 1 3 and 10 18 have means 2 and 14 and variances 1 and 16. With an epsilon of 3, the first
// deviation is 2 = sqrt(4).
TEST(GroupNorm, ByHand) {
  const Given x{kFp32, {1, 2, 2}, {1, 3, 10, 18}};
  const Given weight{kFp32, {2}, {2, 5}}, bias{kFp32, {2}, {0, 1}};
  const AttrTexts two = {{"groups", "2"}, {"eps", "9"}};
  // The deviation is sqrt(16 + 9) = 5.
  const Values y = reference_of_tensors("group_norm", {x, weight, bias}, two);
  EXPECT_EQ(y[0][2], -3);
  EXPECT_EQ(y[0][3], 5);
  EXPECT_THAT(y[1], ElementsAre(2, 14));
  EXPECT_THAT(y[2], ElementsAre(testing::DoubleEq(1 / std::sqrt(10)), testing::DoubleEq(0.2)));
  expect_both("group_norm", {{kFp32, {1, 2, 1}, {1, 3}}}, {{"groups", "1"}, {"eps", "3"}},
              {{-0.5, 0.5}, {2}, {0.5}});
}

// xn is -1/2 and 1/2; the sum of g is 1 and the sum of g*xn is -1/2: (1 - (1 + 1/4)/2)/2, (0 - (1 -
// 1/4)/2)/2.
TEST(GroupNorm, GradientByHand) {
  expect_both("group_norm_grad",
              {{kFp32, {1, 2, 1}, {1, 0}},
               {kFp32, {1, 2, 1}, {1, 3}},
               {kFp32, {1, 1}, {2}},
               {kFp32, {1, 1}, {0.5}},
               {kFp32, {2}, {1, 1}}},
              {}, {{0.1875, -0.1875}, {-0.5, 0}, {1, 0}});
}

TEST(GroupNorm, Shapes) {
  EXPECT_EQ(group_norm_shape({{3, 6, 2, 2}, {6}, {6}}, {{"groups", "2"}}), (Dims{3, 2}));
  EXPECT_THAT(
      [] {
        group_norm_shape({{3, 6}}, {{"groups", "4"}});
      },
      ThrowsMessage<Error>(HasSubstr("C a multiple of the 4 groups")));
  EXPECT_THAT(
      [] {
        group_norm_shape({{3, 6}, {3}}, {});
      },
      ThrowsMessage<Error>(HasSubstr("'weight' has shape 3; allowed: 6")));
}

// One group equals a layer norm of the image, except for the parameters.
TEST(GroupNorm, OneGroupIsALayerNorm) {
  Given x{kFp32, {2, 3, 5}, {}};
  for (int i = 0; i < 30; ++i) x.values.push_back(i * 7 % 11);
  EXPECT_EQ(reference_of_tensors("group_norm", {x})[0],
            reference_of_tensors("layer_norm", {x}, {{"normalized_shape", "[3,5]"}})[0]);
}

TEST(GroupNorm, ChannelsOfRows) {
  const NormGroups of("group_norm", "self", {2, 6, 2, 2},
                      attrs_of(find_op("group_norm"), {{"groups", "2"}}));
  EXPECT_EQ(of.rows(), 4);
  EXPECT_EQ(of.count(), 12);
  EXPECT_EQ(of.channel(0, 4), 1u);
  EXPECT_EQ(of.channel(3, 11), 5u);
}

// z = 2*xn + 1 = -1, 3.
TEST(GroupNormSilu, IsSiluOfTheResult) {
  const std::vector<Given> inputs = {
      {kFp32, {1, 1, 2}, {1, 3}}, {kFp32, {1}, {2}}, {kFp32, {1}, {1}}};
  const Values expected = reference_of_tensors("group_norm_silu", inputs, {{"eps", "0"}});
  EXPECT_NEAR(expected[0][0], -1 / (1 + std::exp(1)), 1e-14);
  EXPECT_NEAR(expected[0][1], 3 / (1 + std::exp(-3)), 1e-14);
  EXPECT_THAT(expected[1], ElementsAre(2));
  const Values found = kernel_on_tensors("group_norm_silu", "native", inputs, {{"eps", "0"}});
  for (std::size_t i = 0; i < 2; ++i) EXPECT_NEAR(found[0][i], expected[0][i], 1e-6);
}

}  // namespace opbench
