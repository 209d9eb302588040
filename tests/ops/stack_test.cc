#include <gmock/gmock.h>

#include "ops/rearrange.h"
#include "tensor/error.h"
#include "tests/ops/finite_difference.h"

namespace opbench {

using testing::HasSubstr;
using testing::ThrowsMessage;

// 0 1 2 / 3 4 5 and 100 101 102 / 103 104 105 become matrices, rows and columns of the result.
TEST(Stack, AlongEveryAxis) {
  const std::vector<Dims> shapes = {{2, 3}, {2, 3}};
  EXPECT_EQ(moved_numbers("stack", shapes),
            (MovedNumbers{{0, 1, 2, 3, 4, 5, 100, 101, 102, 103, 104, 105}}));
  EXPECT_EQ(moved_numbers("stack", shapes, {{"axis", "1"}}),
            (MovedNumbers{{0, 1, 2, 100, 101, 102, 3, 4, 5, 103, 104, 105}}));
  EXPECT_EQ(moved_numbers("stack", shapes, {{"axis", "-1"}}),
            (MovedNumbers{{0, 100, 1, 101, 2, 102, 3, 103, 4, 104, 5, 105}}));
  EXPECT_EQ(moved_numbers("stack", {{}, {}, {}}), (MovedNumbers{{0, 100, 200}}));
}

TEST(Unbind, TakesApart) {
  EXPECT_EQ(moved_numbers("unbind", {{2, 3}}), (MovedNumbers{{0, 1, 2}, {3, 4, 5}}));
  EXPECT_EQ(moved_numbers("unbind", {{2, 3}}, {{"axis", "-1"}}),
            (MovedNumbers{{0, 3}, {1, 4}, {2, 5}}));
}

TEST(Stack, GradientsAgreeWithFiniteDifferences) {
  expect_gradients({"stack", {spread({2, 3}), spread({2, 3}, 1)}, {{"axis", "1"}}});
  expect_gradients({"unbind", {spread({2, 3})}, {{"axis", "1"}}});
}

TEST(Stack, NamesWhatItRefuses) {
  EXPECT_THAT(
      [] {
        problem_with(find_op("stack"), {{2, 3}, {3, 2}});
      },
      ThrowsMessage<Error>(HasSubstr("stack: inputs 0 and 1 must be alike")));
  EXPECT_THAT(
      [] {
        problem_with(find_op("stack"), {{2}}, {{"axis", "2"}});
      },
      ThrowsMessage<Error>(HasSubstr("stack: axis 2 is out of range")));
  EXPECT_THAT(
      [] {
        problem_with(find_op("unbind"), {{0, 3}});
      },
      ThrowsMessage<Error>(HasSubstr("unbind: axis 0 of 'x' has 0 places")));
  EXPECT_THAT([] { problem_with(find_op("unbind"), {{5000}}); },
              ThrowsMessage<Error>(HasSubstr("allowed: 1 to 4096")));
}

}  // namespace opbench
