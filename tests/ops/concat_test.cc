#include <gmock/gmock.h>

#include "tensor/error.h"
#include "tests/evaluate.h"

namespace opbench {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::ThrowsMessage;

TEST(Concat, JoinsAlongTheAxis) {
  EXPECT_THAT(moved_numbers("concat", {{2, 1}, {2, 2}}),
              ElementsAre(ElementsAre(0, 100, 101, 1, 102, 103)));
  EXPECT_THAT(moved_numbers("concat", {{1, 2}, {0, 2}, {1, 2}}, {{"axis", "0"}}),
              ElementsAre(ElementsAre(0, 1, 200, 201)));
  EXPECT_THAT(moved_numbers("concat", {{1, 2, 2}, {1, 2, 1}}, {{"axis", "-1"}}),
              ElementsAre(ElementsAre(0, 1, 100, 2, 3, 101)));
}

TEST(Concat, KeepsTheStorageFormat) {
  const Problem problem = problem_with(find_op("concat"), {{1, 18, 3, 3}, {1, 5, 3, 3}}, {},
                                       DType::fp16, Format::NC1HWC0);
  EXPECT_EQ(problem.outputs[0], describe(DType::fp16, {1, 23, 3, 3}, Format::NC1HWC0));
}

TEST(Concat, NamesTheInputThatDoesNotFit) {
  EXPECT_THAT(
      [] {
        problem_with(find_op("concat"), {{2, 3, 4}, {2, 9, 4}, {2, 3, 5}});
      },
      ThrowsMessage<Error>(
          HasSubstr("concat: input 'x2' is int32[2x3x5] ND, but 'x0' is int32[2x3x4] ND; allowed: "
                    "the same but for the extent of axis 1")));
  EXPECT_THROW(problem_with(find_op("concat"), {{2, 3, 4}, {2, 3}}), Error);
  EXPECT_THAT(
      [] {
        problem_with(find_op("concat"), {{}, {}});
      },
      ThrowsMessage<Error>(HasSubstr("axis 1 is out of range for shape scalar")));
}

// Extents of 2^62 beside an empty axis: no memory, but sums that no number holds.
TEST(Concat, RefusesExtentsThatOverflow) {
  const std::int64_t large = std::int64_t{1} << 62;
  EXPECT_THAT(
      [&] {
        problem_with(find_op("concat"), {{0, large}, {0, large}});
      },
      ThrowsMessage<Error>(HasSubstr("more than 2^63 - 1")));
}

TEST(Concat, IsDifferentiatedBySplit) {
  const Op& op = find_op("concat");
  const auto calls = op.gradient(problem_with(op, {{2, 3}, {2, 4}}, {{"axis", "-1"}}));
  ASSERT_EQ(calls.size(), 1u);
  EXPECT_EQ(calls[0].op, "split");
  EXPECT_THAT(calls[0].of_inputs, ElementsAre(0, 1));
  EXPECT_THAT(calls[0].attrs.list("sizes"), ElementsAre(3, 4));
  EXPECT_EQ(calls[0].attrs.integer("axis"), -1);
}

}  // namespace opbench
