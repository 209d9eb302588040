#include <gmock/gmock.h>

#include "tensor/error.h"
#include "tests/on_tensors.h"

namespace opbench {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::ThrowsMessage;

namespace {

constexpr DType kFp32 = DType::fp32;
const Given kX{kFp32, {2, 2}, {1, 2, 3, 4}};
const Given kElements{DType::boolean, {2, 2}, {1, 0, 0, 1}};
const Given kSecond{DType::boolean, {2}, {0, 1}};
const AttrTexts kByRows = {{"by_rows", "true"}};

std::vector<double> both(std::string_view op, const std::vector<Given>& inputs,
                         const AttrTexts& attrs = {}) {
  const std::vector<double> y = reference_of_tensors(op, inputs, attrs)[0];
  EXPECT_EQ(kernel_on_tensors(op, "native", inputs, attrs)[0], y);
  return y;
}

Dims shape_of(std::string_view op, const std::vector<Dims>& shapes, const AttrTexts& attrs) {
  return problem_with(find_op(op), shapes, attrs).outputs[0].shape;
}

}  // namespace

TEST(MaskedSelect, ElementsAndRowsInTheirOrder) {
  EXPECT_THAT(both("masked_select", {kX, kElements}, {{"rows", "2"}}), ElementsAre(1, 4));
  EXPECT_THAT(both("masked_select", {kX, kElements}), ElementsAre(1, 4, 0, 0));
  EXPECT_THAT(both("masked_select", {kX, kSecond}, {{"by_rows", "true"}, {"rows", "1"}}),
              ElementsAre(3, 4));
}

TEST(MaskedSelect, Shapes) {
  EXPECT_EQ(shape_of("masked_select", {{2, 3}, {2, 3}}, {{"rows", "4"}}), (Dims{4}));
  EXPECT_EQ(shape_of("masked_select", {{2, 3, 5}, {2, 3}}, kByRows), (Dims{6, 5}));
  EXPECT_THAT(
      [] {
        shape_of("masked_select", {{2, 3}, {3}}, {});
      },
      ThrowsMessage<Error>(HasSubstr("'mask' has shape 3; allowed: all axes of shape 2x3")));
  EXPECT_THAT(
      [] {
        shape_of("masked_select", {{2, 3}, {3}}, kByRows);
      },
      ThrowsMessage<Error>(HasSubstr("allowed: the first axes of shape 2x3")));
}

TEST(MaskedSelect, RefusesMoreThanFits) {
  EXPECT_THAT(
      [] {
        both("masked_select", {kX, kElements}, {{"rows", "1"}});
      },
      ThrowsMessage<Error>(HasSubstr("'mask' holds at 2 places; allowed: 1 at most")));
  EXPECT_THAT(
      [] {
        both("masked_scatter", {{kFp32, {1}, {5}}, kElements});
      },
      ThrowsMessage<Error>(HasSubstr("'mask' holds at 2 places; allowed: 1 at most")));
}

TEST(MaskedScatter, PutsElementsAndRowsBack) {
  EXPECT_THAT(both("masked_scatter", {{kFp32, {2}, {7, 8}}, kElements}), ElementsAre(7, 0, 0, 8));
  EXPECT_THAT(both("masked_scatter", {{kFp32, {3}, {7, 8, 9}}, kElements, kX}),
              ElementsAre(7, 2, 3, 8));
  EXPECT_THAT(both("masked_scatter", {{kFp32, {1, 2}, {7, 8}}, kSecond, kX}, kByRows),
              ElementsAre(1, 2, 7, 8));
  const Given nowhere{DType::boolean, {2}, {0, 0}};
  EXPECT_THAT(both("masked_scatter", {{kFp32, {0, 2}, {}}, nowhere}, kByRows),
              ElementsAre(0, 0, 0, 0));
}

TEST(MaskedScatter, Shapes) {
  EXPECT_EQ(shape_of("masked_scatter", {{5}, {2, 3}}, {}), (Dims{2, 3}));
  EXPECT_EQ(shape_of("masked_scatter", {{6, 4}, {2, 3}}, kByRows), (Dims{2, 3, 4}));
  EXPECT_THAT(
      [] {
        shape_of("masked_scatter", {{5}, {2, 3}, {3, 2}}, {});
      },
      ThrowsMessage<Error>(HasSubstr("'self' has shape 3x2; allowed: 2x3")));
  EXPECT_THAT(
      [] {
        shape_of("masked_scatter", {{}, {2, 3}}, kByRows);
      },
      ThrowsMessage<Error>(HasSubstr("'source' is a scalar")));
}

}  // namespace opbench
