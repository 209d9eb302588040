#include <gmock/gmock.h>

#include "ops/shuffle.h"
#include "tensor/error.h"
#include "tests/evaluate.h"

namespace opbench {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::ThrowsMessage;

// Source: range(6) reshaped to (2, 3) and transposed.
TEST(FpIndex, IsTheTransposedRange) {
  EXPECT_THAT(fp_index(6, 2), ElementsAre(0, 3, 1, 4, 2, 5));
  EXPECT_THAT(fp_index(6, 3), ElementsAre(0, 2, 4, 1, 3, 5));
  EXPECT_THAT(inverse_fp_index(6, 2), ElementsAre(0, 2, 4, 1, 3, 5));
  EXPECT_THAT(inverse_fp_index(0, 2), IsEmpty());
}

TEST(ChannelShuffle, TransposesTheChannels) {
  EXPECT_THAT(moved_numbers("channel_shuffle", {{1, 6}}),
              ElementsAre(ElementsAre(0, 3, 1, 4, 2, 5)));
  EXPECT_THAT(moved_numbers("channel_shuffle", {{2, 4, 1}}),
              ElementsAre(ElementsAre(0, 2, 1, 3, 4, 6, 5, 7)));
}

TEST(ChannelShuffle, NamesWhatItDoesNotTake) {
  const Op& op = find_op("channel_shuffle");
  EXPECT_THAT(
      [&] {
        problem_with(op, {{1, 7, 2, 2}});
      },
      ThrowsMessage<Error>(HasSubstr("channel_shuffle: 7 channels in groups=2; allowed: "
                                     "groups that divide the channels")));
  EXPECT_THAT([&] { problem_with(op, {{8}}); },
              ThrowsMessage<Error>(HasSubstr("input 'x' has shape 8; allowed: at least 2")));
  EXPECT_THAT(
      [&] {
        problem_with(op, {{1, 8}}, {{"groups", "0"}});
      },
      ThrowsMessage<Error>(HasSubstr("allowed: whole numbers from 1")));
}

TEST(ChannelShuffle, IsDifferentiatedByTheShuffleBack) {
  const Op& op = find_op("channel_shuffle");
  const auto calls = op.gradient(problem_with(op, {{1, 12}}, {{"groups", "3"}}));
  EXPECT_EQ(calls.at(0).attrs.integer("groups"), 4);
}

}  // namespace opbench
