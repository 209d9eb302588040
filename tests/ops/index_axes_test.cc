#include "ops/index_axes.h"

#include <gmock/gmock.h>

#include "tensor/error.h"
#include "tests/ops/values.h"

namespace opbench {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::ThrowsMessage;

namespace {

Given indices(const std::vector<double>& values) {
  return {DType::int64, {std::ssize(values)}, values};
}

}  // namespace

// The input is 0 1 2 / 3 4 5, and its last row is repeated.
TEST(IndexAxes, ByHand) {
  const Given x{kFp32, {2, 3}, {0, 1, 2, 3, 4, 5}}, rows{kFp32, {1, 2, 3}, x.values};
  EXPECT_THAT(agreed_values("index_axes", {x, indices({1, 0}), indices({2, -3})}, {}),
              ElementsAre(5, 0));
  EXPECT_THAT(
      agreed_values("index_axes", {rows, indices({1, 0}), indices({2, 1})}, {{"axis", "1"}}),
      ElementsAre(5, 1));
  EXPECT_THAT(agreed_values("index_axes", {rows, indices({0}), indices({1})}, {}),
              ElementsAre(3, 4, 5));
  const Given column{DType::int32, {2, 1}, {1, 0}};
  EXPECT_THAT(agreed_values("index_axes", {x, column, indices({0, 2})}, {}),
              ElementsAre(3, 5, 0, 2));
}

TEST(IndexAxes, GradientByHand) {
  const Given dy{kFp32, {3}, {1, 2, 4}};
  EXPECT_THAT(agreed_values("index_axes_grad", {dy, indices({1, 0, 1}), indices({0, 1, 0})},
                            {{"size", "[2,2]"}}),
              ElementsAre(0, 2, 5, 0));
}

TEST(IndexAxes, Shapes) {
  const auto shape_of = [](const std::vector<Dims>& shapes, const AttrTexts& attrs) {
    return problem_with(find_op("index_axes"), shapes, attrs).outputs[0].shape;
  };
  EXPECT_EQ(shape_of({{2, 5, 6, 7}, {3}, {3}}, {{"axis", "1"}}), (Dims{2, 3, 7}));
  EXPECT_THAT(
      [&] {
        shape_of({{2, 5}, {3}, {4}}, {});
      },
      ThrowsMessage<Error>(HasSubstr("inputs of shapes 3 and 4 are 3 and 4 long on axis 0")));
  EXPECT_THAT(
      [&] {
        shape_of({{2, 5}, {3}, {3}}, {{"axis", "1"}});
      },
      ThrowsMessage<Error>(HasSubstr("2 indices from axis 1 on of shape 2x5")));
  EXPECT_EQ(shape_of({{2, 0}, {0}, {0}}, {}), (Dims{0}));
  EXPECT_THAT(
      [&] {
        shape_of({{2, 0, 3}, {2}, {2}}, {});
      },
      ThrowsMessage<Error>(HasSubstr("into shape 2x0x3, which has no elements there")));
  EXPECT_THAT(
      [] {
        agreed_values("index_axes", {{kFp32, {1, 2}, {0, 1}}, indices({0}), indices({2})}, {});
      },
      ThrowsMessage<Error>(HasSubstr("index1")));
}

}  // namespace opbench
