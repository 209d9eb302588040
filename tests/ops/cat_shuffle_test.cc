#include <gmock/gmock.h>

#include "tensor/error.h"
#include "tests/evaluate.h"

namespace opbench {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::ThrowsMessage;

// By hand: the order of the six joined channels is 0 3 1 4 2 5.
TEST(CatShuffle, InterleavesTheHalves) {
  const std::vector<Dims> halves{{1, 3}, {1, 3}};
  EXPECT_THAT(moved_numbers("cat_shuffle", halves),
              ElementsAre(ElementsAre(0, 100, 1, 101, 2, 102)));
  EXPECT_THAT(moved_numbers("cat_shuffle_split", halves),
              ElementsAre(ElementsAre(0, 100, 1), ElementsAre(101, 2, 102)));
}

// The even channels return to the first half, the odd ones to the second.
TEST(CatShuffle, GradientsPutEachChannelBack) {
  EXPECT_THAT(moved_numbers("cat_shuffle_grad", {{1, 6}}),
              ElementsAre(ElementsAre(0, 2, 4), ElementsAre(1, 3, 5)));
  EXPECT_THAT(moved_numbers("cat_shuffle_split_grad", {{1, 3}, {1, 3}}),
              ElementsAre(ElementsAre(0, 2, 101), ElementsAre(1, 100, 102)));
}

// By hand, in three groups: the order of the joined channels is 0 2 4 1 3 5.
TEST(CatShuffle, TakesAnyNumberOfGroups) {
  const std::vector<Dims> halves{{1, 3}, {1, 3}};
  EXPECT_THAT(moved_numbers("cat_shuffle_split", halves, {{"groups", "3"}}),
              ElementsAre(ElementsAre(0, 2, 101), ElementsAre(1, 100, 102)));
  EXPECT_THAT(moved_numbers("cat_shuffle_grad", {{1, 6}}, {{"groups", "3"}}),
              ElementsAre(ElementsAre(0, 3, 1), ElementsAre(4, 2, 5)));
}

TEST(CatShuffle, NamesWhatItDoesNotTake) {
  EXPECT_THAT(
      [] {
        problem_with(find_op("cat_shuffle"), {{1, 3}, {1, 4}});
      },
      ThrowsMessage<Error>(HasSubstr("cat_shuffle: inputs 'x1' and 'x2' must be alike")));
  EXPECT_THAT(
      [] {
        problem_with(find_op("cat_shuffle_split"), {{1, 3}, {1, 3}}, {{"groups", "4"}});
      },
      ThrowsMessage<Error>(HasSubstr("cat_shuffle_split: 6 channels in groups=4; allowed: groups "
                                     "that divide the channels")));
  EXPECT_THAT(
      [] {
        problem_with(find_op("cat_shuffle_grad"), {{1, 7}});
      },
      ThrowsMessage<Error>(HasSubstr("allowed: an even number of channels")));
  EXPECT_THROW(problem_with(find_op("cat_shuffle_split_grad"), {{3}, {3}}), Error);
}

TEST(CatShuffle, RunsItsGradientInTheSameFamily) {
  EXPECT_EQ(find_kernel("cat_shuffle", "full").family_name(),
            find_kernel("cat_shuffle_grad", "full").family_name());
  EXPECT_EQ(find_kernel("cat_shuffle_split", "half").family_name(),
            find_kernel("cat_shuffle_split_grad", "half").family_name());
}

}  // namespace opbench
