#include "dump/device/format_conversion.h"

#include <gmock/gmock.h>

#include <cstring>

#include "tensor/error.h"

namespace opbench {
namespace {

using testing::ElementsAre;

/// 0, 1, 2, ... as int32, stored as `tensor` describes, converted to another format.
struct Converted {
  Dims shape;
  std::vector<std::int32_t> values;
};

Converted convert(Format format, const Dims& shape, const Dims& target_shape, Format target,
                  int groups = 1) {
  std::vector<std::int32_t> numbers(static_cast<std::size_t>(element_count(shape)));
  for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] = static_cast<std::int32_t>(i);
  const ConvertedTensor made = convert_format(
      {StoredType::i32, format, shape, target_shape, groups}, numbers.data(), target);
  Converted result{made.shape, std::vector<std::int32_t>(made.elements.size() / 4)};
  std::memcpy(result.values.data(), made.elements.data(), made.elements.size());
  return result;
}

}  // namespace

// Element [n, c, h, w] of 1x2x2x2 is at place (h*2 + w)*2 + c in NHWC, so 0 4 1 5 2 6 3 7.
TEST(FormatConversion, OfPlainFormatsMovesAxes) {
  const Converted made = convert(Format::NCHW, {1, 2, 2, 2}, {}, Format::NHWC);
  EXPECT_EQ(made.shape, (Dims{1, 2, 2, 2}));
  EXPECT_THAT(made.values, ElementsAre(0, 4, 1, 5, 2, 6, 3, 7));
  // Back: place c*4 + h*2 + w holds NHWC's (h*2 + w)*2 + c.
  EXPECT_THAT(convert(Format::NHWC, {1, 2, 2, 2}, {}, Format::NCHW).values,
              ElementsAre(0, 2, 4, 6, 1, 3, 5, 7));
}

// One block of 16 lanes, 1x2 places: lane c of place w is w*16 + c. Three channels are not padding.
TEST(FormatConversion, OfBlocksRemovesThePadding) {
  const Converted made = convert(Format::NC1HWC0, {1, 1, 1, 2, 16}, {1, 3, 1, 2}, Format::NCHW);
  EXPECT_EQ(made.shape, (Dims{1, 3, 1, 2}));
  EXPECT_THAT(made.values, ElementsAre(0, 16, 1, 17, 2, 18));
  EXPECT_THAT(convert(Format::NC1HWC0, {1, 1, 1, 2, 16}, {1, 3, 1, 2}, Format::NHWC).values,
              ElementsAre(0, 1, 2, 16, 17, 18));
}

// The amount of padding is unknown, so all 16 channels are returned.
TEST(FormatConversion, WithoutATargetShapeKeepsThePadding) {
  EXPECT_EQ(convert(Format::NC1HWC0, {1, 1, 1, 2, 16}, {}, Format::NCHW).shape,
            (Dims{1, 16, 1, 2}));
}

// Columns are in blocks of 16: [n1, m1, 16, 16]. Element [1, 17] of 2x18 is block 1, row 1, lane 1.
TEST(FormatConversion, OfAMatrixInFractalsIsTheMatrix) {
  const Converted made = convert(Format::FRACTAL_NZ, {2, 1, 16, 16}, {2, 18}, Format::ND);
  EXPECT_EQ(made.shape, (Dims{2, 18}));
  EXPECT_EQ(made.values.at(0), 0);
  EXPECT_EQ(made.values.at(16), 256);
  EXPECT_EQ(made.values.at(18 + 17), 256 + 16 + 1);
}

TEST(FormatConversion, RefusesShapesThatDoNotFit) {
  EXPECT_THROW(convert(Format::NC1HWC0, {1, 1, 1, 2, 16}, {1, 17, 1, 2}, Format::NCHW), Error);
  EXPECT_THROW(convert(Format::NC1HWC0, {1, 1, 1, 2}, {1, 3, 1, 2}, Format::NCHW), Error);
  EXPECT_THROW(convert(Format::FRACTAL_NZ, {2, 1, 16, 16}, {20, 18}, Format::ND), Error);
  EXPECT_THROW(convert(Format::NCHW, {1, 2, 2, 2}, {3, 3}, Format::NCHW), Error);
}

TEST(FormatConversion, RefusesOtherPairs) {
  EXPECT_THROW(convert(Format::NC1HWC0, {1, 1, 1, 2, 16}, {}, Format::FRACTAL_NZ), Error);
  EXPECT_THROW(convert(Format::FRACTAL_NZ, {2, 1, 16, 16}, {2, 18}, Format::NC1HWC0), Error);
}

}  // namespace opbench
