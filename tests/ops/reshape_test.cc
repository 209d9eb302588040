#include <gmock/gmock.h>

#include "tensor/error.h"
#include "tests/evaluate.h"

namespace opbench {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::ThrowsMessage;

TEST(Reshape, KeepsTheOrderOfElements) {
  EXPECT_THAT(moved_numbers("reshape", {{2, 3}}, {{"shape", "[3,2]"}}),
              ElementsAre(ElementsAre(0, 1, 2, 3, 4, 5)));
}

TEST(Reshape, OneExtentIsWhatIsLeft) {
  const Op& op = find_op("reshape");
  EXPECT_EQ(problem_with(op, {{2, 3, 4, 5}}, {{"shape", "[2,-1]"}}).outputs[0],
            describe(DType::int32, {2, 60}, Format::ND));
  EXPECT_EQ(problem_with(op, {{2, 60}}, {{"shape", "[2,3,4,5]"}}).outputs[0],
            describe(DType::int32, {2, 3, 4, 5}, Format::NCHW));
}

TEST(Reshape, NamesWhatDoesNotFit) {
  for (const char* shape : {"[7]", "[-1,-1]", "[5,-1]", "[-2,-3]", "[0,-1]"}) {
    EXPECT_THAT(
        [&] {
          problem_with(find_op("reshape"), {{2, 3}}, {{"shape", shape}});
        },
        ThrowsMessage<Error>(HasSubstr("allowed: extents that hold 6 elements")))
        << shape;
  }
}

TEST(Reshape, IsDifferentiatedByTheWayBack) {
  const Op& op = find_op("reshape");
  const auto calls = op.gradient(problem_with(op, {{2, 3, 4}}, {{"shape", "[6,4]"}}));
  EXPECT_THAT(calls.at(0).attrs.list("shape"), ElementsAre(2, 3, 4));
}

}  // namespace opbench
