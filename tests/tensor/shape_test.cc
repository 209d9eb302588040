#include "tensor/shape.h"

#include <gmock/gmock.h>

#include <limits>

#include "tensor/error.h"

namespace opbench {

using testing::HasSubstr;
using testing::ThrowsMessage;

constexpr std::int64_t kBig = std::int64_t{1} << 32;

TEST(Shape, ElementCount) {
  EXPECT_EQ(element_count({}), 1);
  EXPECT_EQ(element_count({7}), 7);
  EXPECT_EQ(element_count({128, 64, 7, 7}), 401408);
  EXPECT_EQ(element_count({3, 0, 5}), 0);
  const std::int64_t max = std::numeric_limits<std::int64_t>::max();
  EXPECT_EQ(element_count({max, 1}), max);
}

TEST(Shape, ElementCountRejectsNegativeExtents) {
  EXPECT_THAT(
      [] {
        element_count({2, -3});
      },
      ThrowsMessage<Error>(HasSubstr("2x-3: extent -3 is negative")));
  EXPECT_THROW(element_count({0, -1}), Error);
}

TEST(Shape, ElementCountRejectsOverflow) {
  EXPECT_THAT([] { element_count({kBig, kBig / 2}); }, ThrowsMessage<Error>(HasSubstr("2^63 - 1")));
  EXPECT_EQ(element_count({kBig, kBig / 4}), std::int64_t{1} << 62);
  // As in numpy, an empty array whose strides would overflow is none.
  EXPECT_THROW(element_count({0, kBig, kBig}), Error);
  EXPECT_THROW(element_count({kBig, kBig, 0}), Error);
}

TEST(Shape, TextRoundTrips) {
  EXPECT_EQ(to_string(Dims{}), "scalar");
  EXPECT_EQ(to_string(Dims{128, 64, 7, 7}), "128x64x7x7");
  for (const Dims& dims : {Dims{}, Dims{0}, Dims{1}, Dims{128, 64, 7, 7}, Dims{3, 0, kBig}}) {
    EXPECT_EQ(parse_dims(to_string(dims)), dims) << to_string(dims);
  }
}

TEST(Shape, ParseRejectsAnythingElse) {
  for (const char* text : {"", "x", "3x", "x3", "3xx4", "+3", "03", " 3", "3 ", "3,4", "3X4",
                           "Scalar", "scalarx3", "1e3", "9223372036854775808", "3x4.0"}) {
    EXPECT_THAT([&] { parse_dims(text); }, ThrowsMessage<Error>(HasSubstr("128x64x7x7"))) << text;
  }
  EXPECT_THROW(parse_dims("-3"), Error);
  EXPECT_THROW(parse_dims("4294967296x4294967296"), Error);
}

TEST(Shape, RowMajorStrides) {
  EXPECT_EQ(row_major_strides({}), Dims{});
  EXPECT_EQ(row_major_strides({5}), Dims{1});
  EXPECT_EQ(row_major_strides({2, 3, 4}), (Dims{12, 4, 1}));
  EXPECT_EQ(row_major_strides({2, 0, 4}), (Dims{4, 4, 1}));
}

}  // namespace opbench
