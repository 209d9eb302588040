#include <gmock/gmock.h>

#include "tensor/error.h"
#include "tests/ops/values.h"
#include "tests/support/non_finite.h"

namespace opbench {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::ThrowsMessage;

namespace {

const Given kSquare{kFp32, {2, 2}, {1, 2, 3, 4}};
const Given kElements{DType::boolean, {2, 2}, {1, 0, 0, 1}};
const Given kSecondRow{DType::boolean, {2}, {0, 1}};
const AttrTexts kByRows = {{"by_rows", "true"}};

Dims selected_shape(std::string_view op, const std::vector<Dims>& shapes, const AttrTexts& attrs) {
  return problem_with(find_op(op), shapes, attrs).outputs[0].shape;
}

}  // namespace

TEST(MaskedSelect, ElementsAndRowsInTheirOrder) {
  EXPECT_THAT(agreed_values("masked_select", {kSquare, kElements}, {{"rows", "2"}}),
              ElementsAre(1, 4));
  EXPECT_THAT(agreed_values("masked_select", {kSquare, kElements}), ElementsAre(1, 4, 0, 0));
  EXPECT_THAT(
      agreed_values("masked_select", {kSquare, kSecondRow}, {{"by_rows", "true"}, {"rows", "1"}}),
      ElementsAre(3, 4));
}

TEST(MaskedSelect, Shapes) {
  EXPECT_EQ(selected_shape("masked_select", {{2, 3}, {2, 3}}, {{"rows", "4"}}), (Dims{4}));
  EXPECT_EQ(selected_shape("masked_select", {{2, 3, 5}, {2, 3}}, kByRows), (Dims{6, 5}));
  EXPECT_THAT(
      [] {
        selected_shape("masked_select", {{2, 3}, {3}}, {});
      },
      ThrowsMessage<Error>(HasSubstr("'mask' has shape 3; allowed: all axes of shape 2x3")));
  EXPECT_THAT(
      [] {
        selected_shape("masked_select", {{2, 3}, {3}}, kByRows);
      },
      ThrowsMessage<Error>(HasSubstr("allowed: the first axes of shape 2x3")));
}

TEST(MaskedSelect, RefusesMoreThanFits) {
  EXPECT_THAT(
      [] {
        agreed_values("masked_select", {kSquare, kElements}, {{"rows", "1"}});
      },
      ThrowsMessage<Error>(HasSubstr("'mask' is true at 2 places; allowed: at most 1")));
  EXPECT_THAT(
      [] {
        agreed_values("masked_scatter", {{kFp32, {1}, {5}}, kElements});
      },
      ThrowsMessage<Error>(HasSubstr("'mask' is true at 2 places; allowed: at most 1")));
}

TEST(MaskedScatter, PutsElementsAndRowsBack) {
  EXPECT_THAT(agreed_values("masked_scatter", {{kFp32, {2}, {7, 8}}, kElements}),
              ElementsAre(7, 0, 0, 8));
  EXPECT_THAT(agreed_values("masked_scatter", {{kFp32, {3}, {7, 8, 9}}, kElements, kSquare}),
              ElementsAre(7, 2, 3, 8));
  EXPECT_THAT(
      agreed_values("masked_scatter", {{kFp32, {1, 2}, {7, 8}}, kSecondRow, kSquare}, kByRows),
      ElementsAre(1, 2, 7, 8));
  const Given nowhere{DType::boolean, {2}, {0, 0}};
  EXPECT_THAT(agreed_values("masked_scatter", {{kFp32, {0, 2}, {}}, nowhere}, kByRows),
              ElementsAre(0, 0, 0, 0));
}

TEST(MaskedScatter, Shapes) {
  EXPECT_EQ(selected_shape("masked_scatter", {{5}, {2, 3}}, {}), (Dims{2, 3}));
  EXPECT_EQ(selected_shape("masked_scatter", {{6, 4}, {2, 3}}, kByRows), (Dims{2, 3, 4}));
  EXPECT_THAT(
      [] {
        selected_shape("masked_scatter", {{5}, {2, 3}, {3, 2}}, {});
      },
      ThrowsMessage<Error>(HasSubstr("'self' has shape 3x2; allowed: 2x3")));
  EXPECT_THAT(
      [] {
        selected_shape("masked_scatter", {{}, {2, 3}}, kByRows);
      },
      ThrowsMessage<Error>(HasSubstr("'source' is a scalar")));
}

// NaN is not 0, -0 is.
TEST(Nonzero, NamesPlacesInOrder) {
  const Given x{kFp32, {2, 3}, {0, 2, -0.0, kNan, 0, 5}};
  EXPECT_THAT(agreed_values("nonzero", {x}, {{"rows", "3"}}), ElementsAre(0, 1, 1, 0, 1, 2));
  EXPECT_THAT(agreed_values("nonzero", {{DType::int8, {3}, {-128, 0, 1}}}), ElementsAre(0, 2, 0));
  EXPECT_THAT(agreed_values("nonzero", {{kFp32, {}, {3}}}, {{"rows", "1"}}), ElementsAre());
  EXPECT_EQ(selected_shape("nonzero", {{}}, {}), (Dims{1, 0}));
  EXPECT_EQ(selected_shape("nonzero", {{2, 0}}, {}), (Dims{0, 2}));
  EXPECT_THAT(
      [&] {
        agreed_values("nonzero", {x}, {{"rows", "1"}});
      },
      ThrowsMessage<Error>(HasSubstr("'self' is true at 3 places; allowed: at most 1")));
}

}  // namespace opbench
