#include <gmock/gmock.h>

#include "tensor/error.h"
#include "tests/evaluate.h"

namespace opbench {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::ThrowsMessage;

TEST(Gather, TakesTheShapeOfTheIndices) {
  EXPECT_EQ(problem_with(find_op("gather"), {{5, 6, 7}, {2, 3}}, {{"axis", "1"}}).outputs[0].shape,
            (Dims{5, 2, 3, 7}));
  EXPECT_EQ(problem_with(find_op("gather"), {{5, 6}, {}}).outputs[0].shape, (Dims{6}));
  EXPECT_EQ(
      problem_with(find_op("gather"), {{5, 6, 7}, {5, 3}}, {{"axis", "2"}, {"batch_dims", "1"}})
          .outputs[0]
          .shape,
      (Dims{5, 6, 3}));
}

TEST(Gather, PicksRows) {
  EXPECT_THAT(moved_numbers("gather", {{3, 2}, {2, 2}}, {}, {2, 0, 1, 1}),
              ElementsAre(ElementsAre(4, 5, 0, 1, 2, 3, 2, 3)));
  // Source: tf.gather(reshape(range(6), (2, 3)), [[2, 0], [1, 1]], axis=1, batch_dims=1).
  EXPECT_THAT(
      moved_numbers("gather", {{2, 3}, {2, 2}}, {{"axis", "1"}, {"batch_dims", "1"}}, {2, 0, 1, 1}),
      ElementsAre(ElementsAre(2, 0, 4, 4)));
}

TEST(Gather, CountsNegativeIndicesFromTheBack) {
  EXPECT_THAT(moved_numbers("gather", {{3}, {2}}, {{"negative_index", "true"}}, {-1, -3}),
              ElementsAre(ElementsAre(2, 0)));
}

TEST(Gather, GivesZerosForIndicesOutside) {
  EXPECT_THAT(moved_numbers("gather", {{3}, {4}}, {{"out_of_range", "zero"}}, {-1, 3, 1, 2}),
              ElementsAre(ElementsAre(0, 0, 1, 2)));
}

TEST(Gather, ChecksTheIndices) {
  const auto check = [](std::int64_t value, const AttrTexts& attrs) {
    const Problem problem = problem_with(find_op("gather"), {{3}, {1}}, attrs);
    const Tensor x(problem.inputs[0]), index(problem.inputs[1]);
    index.as<std::int64_t>()[0] = value;
    const std::vector<InputReader> readers{{x.desc, x.data()}, {index.desc, index.data()}};
    problem.op->check_values(problem, readers);
  };
  EXPECT_THAT([&] { check(-1, {}); },
              ThrowsMessage<Error>(HasSubstr("gather: indices[0] is -1; allowed: 0 to 2")));
  EXPECT_THAT(
      [&] {
        check(-4, {{"negative_index", "true"}});
      },
      ThrowsMessage<Error>(HasSubstr("allowed: -3 to 2")));
  EXPECT_NO_THROW(check(-3, {{"negative_index", "true"}}));
  EXPECT_NO_THROW(check(99, {{"out_of_range", "zero"}}));
}

TEST(Gather, NamesWhatItDoesNotTake) {
  const Op& op = find_op("gather");
  EXPECT_THAT(
      [&] {
        problem_with(op, {{3, 4}, {2}}, {{"batch_dims", "1"}});
      },
      ThrowsMessage<Error>(HasSubstr("batch_dims is 1")));
  EXPECT_THAT(
      [&] {
        problem_with(op, {{3, 4}, {2}}, {{"axis", "1"}, {"batch_dims", "1"}});
      },
      ThrowsMessage<Error>(HasSubstr("allowed: the same first 1 extents")));
  EXPECT_THAT(
      [&] {
        problem_with(op, {{3}, {2}}, {{"out_of_range", "clamp"}});
      },
      ThrowsMessage<Error>(HasSubstr("allowed: error, zero")));
}

}  // namespace opbench
