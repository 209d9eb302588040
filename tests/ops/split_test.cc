#include <gmock/gmock.h>

#include "tensor/error.h"
#include "tests/evaluate.h"

namespace opbench {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::ThrowsMessage;

namespace {

std::vector<std::int64_t> parts(std::int64_t extent, const AttrTexts& attrs) {
  std::vector<std::int64_t> extents;
  for (const TensorDesc& output : problem_with(find_op("split"), {{2, extent}}, attrs).outputs) {
    extents.push_back(output.shape[1]);
  }
  return extents;
}

}  // namespace

TEST(Split, CutsAlongTheAxis) {
  EXPECT_THAT(moved_numbers("split", {{2, 3}}, {{"sizes", "[1,2]"}}),
              ElementsAre(ElementsAre(0, 3), ElementsAre(1, 2, 4, 5)));
  EXPECT_THAT(moved_numbers("split", {{3, 2}}, {{"axis", "0"}}),
              ElementsAre(ElementsAre(0, 1, 2, 3), ElementsAre(4, 5)));
}

// Source: torch.chunk.
TEST(Split, ChunksAsTorchDoes) {
  EXPECT_THAT(parts(6, {{"chunks", "2"}}), ElementsAre(3, 3));
  EXPECT_THAT(parts(7, {{"chunks", "3"}}), ElementsAre(3, 3, 1));
  EXPECT_THAT(parts(6, {{"chunks", "4"}}), ElementsAre(2, 2, 2)) << "fewer than asked for";
  EXPECT_THAT(parts(2, {{"chunks", "5"}}), ElementsAre(1, 1));
  EXPECT_THAT(parts(0, {{"chunks", "3"}}), ElementsAre(0, 0, 0));
}

TEST(Split, RefusesSizesThatDoNotAddUp) {
  for (const char* sizes : {"[1,1]", "[3,1]", "[-1,4]", "[9223372036854775807,1]"}) {
    EXPECT_THAT(
        [&] {
          parts(3, {{"sizes", sizes}});
        },
        ThrowsMessage<Error>(HasSubstr("add up to 3, the extent of axis 1")))
        << sizes;
  }
  for (const char* chunks : {"0", "-1", "4097"}) {
    EXPECT_THAT(
        [&] {
          parts(3, {{"chunks", chunks}});
        },
        ThrowsMessage<Error>(HasSubstr("allowed: 1 to 4096")));
  }
}

TEST(Split, IsDifferentiatedByConcat) {
  const Op& op = find_op("split");
  const auto calls = op.gradient(problem_with(op, {{2, 7}}, {{"chunks", "3"}}));
  ASSERT_EQ(calls.size(), 1u);
  EXPECT_EQ(calls[0].op, "concat");
  EXPECT_EQ(calls[0].args.size(), 3u);
}

}  // namespace opbench
