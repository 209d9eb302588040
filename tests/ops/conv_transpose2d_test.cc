#include <gmock/gmock.h>

#include "tensor/error.h"
#include "tests/ops/values.h"

namespace opbench {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::ThrowsMessage;

namespace {

const Given kX{kFp32, {1, 1, 2, 2}, {1, 2, 3, 4}};
const Given kWeight{kFp32, {1, 1, 2, 2}, {1, 2, 3, 4}};

Dims transposed_shape(const std::vector<Dims>& shapes, const AttrTexts& attrs) {
  return problem_with(find_op("conv_transpose2d"), shapes, attrs, kFp32).outputs[0].shape;
}

}  // namespace

// The stride equals the kernel size, so every element is multiplied into its own square.
TEST(ConvTranspose2d, ByHand) {
  const AttrTexts attrs = {{"stride", "2"}};
  const std::vector<Given> inputs = {kX, kWeight, {kFp32, {1}, {10}}};
  const auto y = ElementsAre(11, 12, 12, 14, 13, 14, 16, 18, 13, 16, 14, 18, 19, 22, 22, 26);
  EXPECT_THAT(reference_of_tensors("conv_transpose2d", inputs, attrs)[0], y);
  EXPECT_THAT(kernel_on_tensors("conv_transpose2d", "native", inputs, attrs)[0], y);
}

// Overlapping windows add up: 1 by 2 elements with a kernel of 1 2 3 4.
TEST(ConvTranspose2d, Overlapping) {
  EXPECT_THAT(reference_of_tensors("conv_transpose2d", {{kFp32, {1, 1, 1, 2}, {1, 2}}, kWeight})[0],
              ElementsAre(1, 4, 4, 3, 10, 8));
}

TEST(ConvTranspose2d, Shapes) {
  EXPECT_EQ(
      transposed_shape({{2, 4, 5, 5}, {4, 3, 3, 3}, {3}}, {{"stride", "2"}, {"padding", "1"}}),
      (Dims{2, 3, 9, 9}));
  EXPECT_EQ(transposed_shape({{2, 4, 5, 5}, {4, 3, 3, 3}},
                             {{"stride", "2"}, {"padding", "1"}, {"output_padding", "1"}}),
            (Dims{2, 3, 10, 10}));
  EXPECT_EQ(transposed_shape({{2, 4, 5, 5}, {4, 3, 3, 3}}, {{"groups", "2"}}), (Dims{2, 6, 7, 7}));
  EXPECT_THAT(
      [] {
        transposed_shape({{2, 4, 5, 5}, {4, 3, 3, 3}, {4}}, {});
      },
      ThrowsMessage<Error>(HasSubstr("'bias' has shape 4; allowed: 3")));
  EXPECT_THAT([] { transposed_shape({{2, 4, 5, 5}, {3, 3, 3, 3}}, {}); }, testing::Throws<Error>());
}

}  // namespace opbench
