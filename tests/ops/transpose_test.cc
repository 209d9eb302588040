#include <gmock/gmock.h>

#include "tensor/error.h"
#include "tests/evaluate.h"

namespace opbench {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::ThrowsMessage;

TEST(Transpose, ReordersAxes) {
  EXPECT_THAT(moved_numbers("transpose", {{2, 3}}), ElementsAre(ElementsAre(0, 3, 1, 4, 2, 5)));
  EXPECT_THAT(moved_numbers("transpose", {{2, 2, 2}}, {{"perm", "[1,0,2]"}}),
              ElementsAre(ElementsAre(0, 1, 4, 5, 2, 3, 6, 7)));
}

TEST(Transpose, StoresTheResultPlainly) {
  EXPECT_EQ(problem_with(find_op("transpose"), {{2, 3, 4, 5}}, {{"perm", "[0,2,3,1]"}}).outputs[0],
            describe(DType::int32, {2, 4, 5, 3}, Format::NCHW));
}

TEST(Transpose, NamesWhatIsNoPermutation) {
  for (const char* perm : {"[0,1]", "[0,1,1]", "[0,1,3]", "[0,1,-1]"}) {
    EXPECT_THAT(
        [&] {
          problem_with(find_op("transpose"), {{2, 3, 4}}, {{"perm", perm}});
        },
        ThrowsMessage<Error>(HasSubstr("allowed: a permutation of [0,1,2]")))
        << perm;
  }
}

TEST(Transpose, IsDifferentiatedByTheInverse) {
  const Op& op = find_op("transpose");
  const auto calls = op.gradient(problem_with(op, {{2, 3, 4}}, {{"perm", "[2,0,1]"}}));
  EXPECT_THAT(calls.at(0).attrs.list("perm"), ElementsAre(1, 2, 0));
}

}  // namespace opbench
