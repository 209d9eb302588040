#include <gmock/gmock.h>

#include "ops/rearrange.h"
#include "tensor/error.h"
#include "tests/ops/finite_difference.h"

namespace opbench {

using testing::HasSubstr;
using testing::ThrowsMessage;

namespace {

void refused(const char* op, const Dims& shape, const AttrTexts& attrs, const char* text) {
  EXPECT_THAT([&] { problem_with(find_op(op), {shape}, attrs); },
              ThrowsMessage<Error>(HasSubstr(text)));
}

}  // namespace

TEST(Flip, ReversesAxes) {
  EXPECT_EQ(moved_numbers("flip", {{2, 3}}), (MovedNumbers{{2, 1, 0, 5, 4, 3}}));
  EXPECT_EQ(moved_numbers("flip", {{2, 3}}, {{"dims", "0"}}), (MovedNumbers{{3, 4, 5, 0, 1, 2}}));
  EXPECT_EQ(moved_numbers("flip", {{2, 3}}, {{"dims", "[0,1]"}}),
            (MovedNumbers{{5, 4, 3, 2, 1, 0}}));
  EXPECT_EQ(moved_numbers("flip", {{2, 3}}, {{"dims", "[]"}}), (MovedNumbers{{0, 1, 2, 3, 4, 5}}));
}

// Source: the examples of torch.roll's documentation, counted from 0.
TEST(Roll, MovesAxesOn) {
  EXPECT_EQ(moved_numbers("roll", {{4, 2}}), (MovedNumbers{{7, 0, 1, 2, 3, 4, 5, 6}}));
  EXPECT_EQ(moved_numbers("roll", {{4, 2}}, {{"shifts", "1"}, {"dims", "0"}}),
            (MovedNumbers{{6, 7, 0, 1, 2, 3, 4, 5}}));
  EXPECT_EQ(moved_numbers("roll", {{4, 2}}, {{"shifts", "-1"}, {"dims", "0"}}),
            (MovedNumbers{{2, 3, 4, 5, 6, 7, 0, 1}}));
  EXPECT_EQ(moved_numbers("roll", {{4, 2}}, {{"shifts", "[2,1]"}, {"dims", "[0,1]"}}),
            (MovedNumbers{{5, 4, 7, 6, 1, 0, 3, 2}}));
  EXPECT_EQ(moved_numbers("roll", {{4, 2}}, {{"shifts", "-4000000001"}, {"dims", "0"}}),
            moved_numbers("roll", {{4, 2}}, {{"shifts", "-1"}, {"dims", "0"}}));
}

TEST(FlipRoll, GradientsAgreeWithFiniteDifferences) {
  expect_gradients({"flip", {spread({2, 3})}, {{"dims", "[0,1]"}}});
  expect_gradients({"roll", {spread({2, 3})}, {{"shifts", "[1,-2]"}, {"dims", "[0,1]"}}});
  expect_gradients({"roll", {spread({2, 3})}, {{"shifts", "2"}}});
}

TEST(FlipRoll, NameWhatTheyRefuse) {
  refused("flip", {2, 3}, {{"dims", "2"}}, "flip: axis 2 is out of range");
  refused("flip", {2, 3}, {{"dims", "[0,-2]"}}, "flip: axis 0 is named twice in dims");
  refused("roll", {2, 3}, {{"shifts", "[1,2]"}}, "roll: there are 2 shifts for 0 dims");
  refused("roll", {2, 3}, {{"shifts", "-9223372036854775808"}}, "up to 2^40 either way");
  refused("roll", {2, 3}, {{"dims", "[0,1]"}}, "roll: there are 1 shifts for 2 dims");
  refused("roll", {2, 3}, {{"shifts", "[1,1]"}, {"dims", "[1,1]"}}, "axis 1 is named twice");
}

}  // namespace opbench
