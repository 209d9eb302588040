#include <gmock/gmock.h>

#include <cmath>

#include "tensor/error.h"
#include "tests/on_tensors.h"

namespace opbench {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsNan;
using testing::ThrowsMessage;

// Source: the example of torch.topk's documentation.
TEST(TopK, PublishedExample) {
  const std::vector<Given> x = {{DType::fp32, {5}, {1, 2, 3, 4, 5}}};
  for (const Values& found : {reference_of_tensors("topk", x, {{"k", "3"}}),
                              kernel_on_tensors("topk", "native", x, {{"k", "3"}})}) {
    EXPECT_THAT(found[0], ElementsAre(5, 4, 3));
    EXPECT_THAT(found[1], ElementsAre(4, 3, 2));
  }
}

// The first of equal elements comes first. NaN is the greatest.
TEST(TopK, EqualsAndNaN) {
  const double nan = std::nan("");
  const std::vector<Given> x = {{DType::fp16, {6}, {2, nan, 2, 1, nan, 1}}};
  for (const bool is_native : {false, true}) {
    const auto of = [&](const AttrTexts& attrs) {
      return is_native ? kernel_on_tensors("topk", "native", x, attrs)
                       : reference_of_tensors("topk", x, attrs);
    };
    EXPECT_THAT(of({{"k", "4"}})[1], ElementsAre(1, 4, 0, 2));
    EXPECT_THAT(of({{"k", "1"}})[0], ElementsAre(IsNan()));
    EXPECT_THAT(of({{"k", "3"}, {"largest", "false"}})[1], ElementsAre(3, 5, 0));
  }
}

// Columns of [[3, 1], [1, 2], [2, 0]].
TEST(TopK, AlongAnotherAxis) {
  const std::vector<Given> x = {{DType::int64, {3, 2}, {3, 1, 1, 2, 2, 0}}};
  const Values found = kernel_on_tensors("topk", "native", x, {{"k", "2"}, {"axis", "0"}});
  EXPECT_THAT(found[0], ElementsAre(3, 2, 2, 1));
  EXPECT_THAT(found[1], ElementsAre(0, 1, 2, 0));
  EXPECT_EQ(found, reference_of_tensors("topk", x, {{"k", "2"}, {"axis", "0"}}));
}

TEST(TopK, NamesWhatItRefuses) {
  EXPECT_THAT(
      [] {
        problem_with(find_op("topk"), {{2, 3}}, {{"k", "4"}});
      },
      ThrowsMessage<Error>(HasSubstr("topk: k is 4 on axis 1 of shape 2x3; allowed: 1 to 3")));
  EXPECT_THAT(
      [] {
        attrs_of(find_op("topk"), {{"k", "0"}});
      },
      ThrowsMessage<Error>(HasSubstr("it must be 1 or more")));
}

}  // namespace opbench
