#include <gmock/gmock.h>

#include <cmath>

#include "ops/rearrange.h"
#include "tensor/error.h"
#include "tests/ops/finite_difference.h"

namespace opbench {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::ThrowsMessage;

// The input is 0 1 / 2 3. Padding begins at the last axis, so columns come first.
TEST(Pad, AddsABorder) {
  EXPECT_EQ(moved_numbers("pad", {{2, 2}}), (MovedNumbers{{0, 0, 1, 0, 0, 2, 3, 0}}));
  EXPECT_EQ(moved_numbers("pad", {{2, 2}}, {{"pad", "[0,1,1,0]"}}),
            (MovedNumbers{{0, 0, 0, 0, 1, 0, 2, 3, 0}}));
  EXPECT_EQ(moved_numbers("pad", {{2, 2}}, {{"pad", "[2,0]"}, {"value", "-7"}}),
            (MovedNumbers{{-7, -7, 0, 1, -7, -7, 2, 3}}));
  EXPECT_EQ(moved_numbers("pad", {{2, 2}}, {{"pad", "[]"}}), (MovedNumbers{{0, 1, 2, 3}}));
}

TEST(Pad, NegativeBordersCutOff) {
  EXPECT_EQ(moved_numbers("pad", {{2, 3}}, {{"pad", "[-1,0]"}}), (MovedNumbers{{1, 2, 4, 5}}));
  EXPECT_EQ(moved_numbers("pad", {{2, 3}}, {{"pad", "[-1,1,0,-1]"}, {"value", "9"}}),
            (MovedNumbers{{1, 2, 9}}));
  EXPECT_EQ(moved_numbers("pad", {{2, 3}}, {{"pad", "[-3,2]"}, {"value", "9"}}),
            (MovedNumbers{{9, 9, 9, 9}}));
}

// The input is 0 1 / 2 3. 9 is inserted between the columns, then between the rows, and the front
// is cut off.
TEST(Pad, KeepsElementsApart) {
  const AttrTexts apart = {{"pad", "[0,1]"}, {"value", "9"}, {"step", "2"}, {"step_axis", "1"}};
  EXPECT_EQ(moved_numbers("pad", {{2, 2}}, apart), (MovedNumbers{{0, 9, 1, 9, 2, 9, 3, 9}}));
  const AttrTexts cut = {{"pad", "[0,0,-1,1]"}, {"value", "9"}, {"step", "3"}, {"step_axis", "-2"}};
  EXPECT_EQ(moved_numbers("pad", {{2, 2}}, cut), (MovedNumbers{{9, 9, 9, 9, 2, 3, 9, 9}}));
  const Given x{DType::fp32, {2, 2}, {0, 1, 2, 3}};
  EXPECT_THAT(kernel_on_tensors("pad", "native", {x}, apart)[0],
              ElementsAre(0, 9, 1, 9, 2, 9, 3, 9));
  EXPECT_THAT(kernel_on_tensors("pad", "native", {x}, cut)[0], ElementsAre(9, 9, 9, 9, 2, 3, 9, 9));
}

TEST(Pad, TheValueIsRoundedToTheDtype) {
  const Given x{DType::fp16, {1}, {5}};
  const AttrTexts attrs = {{"pad", "[1,0]"}, {"value", "1e9"}};
  EXPECT_THAT(reference_of_tensors("pad", {x}, attrs)[0], ElementsAre(HUGE_VAL, 5));
  EXPECT_THAT(kernel_on_tensors("pad", "native", {x}, attrs)[0], ElementsAre(HUGE_VAL, 5));
}

TEST(Pad, GradientsAgreeWithFiniteDifferences) {
  expect_gradients({"pad", {spread({2, 3})}, {{"pad", "[1,2,0,1]"}, {"value", "3"}}});
  expect_gradients({"pad", {spread({2, 3})}, {{"pad", "[-1,2]"}}});
}

TEST(Pad, NamesWhatItRefuses) {
  const auto refused = [](const char* pad, const char* text) {
    EXPECT_THAT(
        [&] {
          problem_with(find_op("pad"), {{2, 3}}, {{"pad", pad}});
        },
        ThrowsMessage<Error>(HasSubstr(text)));
  };
  refused("[1]", "pad: pad [1] of a tensor of shape 2x3; allowed: two numbers for each");
  refused("[1,1,1,1,1,1]", "two numbers for each of the last axes");
  refused("[-4,1]", "pad: -4 and 1 at axis 1 of shape 2x3");
  refused("[-2,-2]", "allowed: to cut off at most its extent");
  refused("[9223372036854775807,1]", "up to 2^40");
}

}  // namespace opbench
