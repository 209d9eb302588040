#include <gmock/gmock.h>

#include "tensor/error.h"
#include "tests/on_tensors.h"

namespace opbench {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::ThrowsMessage;

namespace {

const Given kScattered{DType::fp32, {2, 3}, {1, 2, 3, 4, 5, 6}};

std::vector<double> scattered(const Given& index, const AttrTexts& attrs) {
  const std::vector<double> y =
      reference_of_tensors("scatter_value", {kScattered, index}, attrs)[0];
  EXPECT_EQ(kernel_on_tensors("scatter_value", "native", {kScattered, index}, attrs)[0], y);
  return y;
}

}  // namespace

TEST(ScatterValue, ByHand) {
  EXPECT_THAT(scattered({DType::int64, {2, 1}, {2, 0}}, {{"value", "9"}}),
              ElementsAre(1, 2, 9, 9, 5, 6));
  EXPECT_THAT(scattered({DType::int32, {1, 2}, {1, 0}}, {{"dim", "0"}}),
              ElementsAre(1, 1, 3, 1, 5, 6));
}

TEST(ScatterValue, Shapes) {
  const auto shape_of = [](const std::vector<Dims>& shapes) {
    return problem_with(find_op("scatter_value"), shapes).outputs[0].shape;
  };
  EXPECT_EQ(shape_of({{2, 3}, {2, 7}}), (Dims{2, 3}));
  EXPECT_THAT(
      [&] {
        shape_of({{2, 3}, {3, 1}});
      },
      ThrowsMessage<Error>(HasSubstr("'index' has shape 3x1; allowed: at most 2x3")));
  EXPECT_THAT(
      [] {
        scattered({DType::int64, {1, 1}, {3}}, {});
      },
      ThrowsMessage<Error>(HasSubstr("index")));
}

}  // namespace opbench
