#include "tensor/shape.h"

#include <gmock/gmock.h>

#include <limits>
#include <numeric>
#include <vector>

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
  // An empty array whose strides would overflow is refused, as in numpy.
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

namespace {

/// Offsets of all elements in row-major order, by the definition of a strided view.
std::vector<std::int64_t> offsets(const StridedView& view) {
  std::vector<std::int64_t> result;
  for (std::int64_t i = 0; i < element_count(view.shape); ++i) {
    std::int64_t offset = view.offset, rest = i;
    for (std::size_t axis = view.shape.size(); axis-- > 0;) {
      offset += rest % view.shape[axis] * view.strides[axis];
      rest /= view.shape[axis];
    }
    result.push_back(offset);
  }
  return result;
}

const StridedView kDense = dense_view({4, 5, 6});

std::vector<StridedView> views() {
  return {kDense,
          dense_view({}),
          dense_view({0, 3}),
          permute(kDense, {2, 0, 1}),
          transpose(kDense, 0, 2),
          slice(kDense, 1, 1, 2, 2),
          slice(kDense, 2, 5, 1),
          slice(kDense, 2, 6, 0),
          select(kDense, 0, 3),
          select(select(select(kDense, 0, 3), 0, 4), 0, 5),
          broadcast_to(dense_view({5, 1}), {4, 5, 6}),
          broadcast_to(dense_view({}), {2, 3}),
          slice(transpose(broadcast_to(dense_view({6}), {5, 6}), 0, 1), 0, 1, 2, 3),
          transpose(dense_view({200, 300}), 0, 1)};
}

}  // namespace

TEST(View, ExtentIsOnePastTheLargestOffset) {
  for (const StridedView& view : views()) {
    const std::vector<std::int64_t> all = offsets(view);
    EXPECT_EQ(extent(view), all.empty() ? 0 : 1 + *std::max_element(all.begin(), all.end()));
  }
}

TEST(View, ContiguousMeansConsecutiveOffsets) {
  for (const StridedView& view : views()) {
    const std::vector<std::int64_t> all = offsets(view);
    std::vector<std::int64_t> consecutive(all.size());
    std::iota(consecutive.begin(), consecutive.end(), view.offset);
    EXPECT_EQ(is_contiguous(view), all == consecutive) << to_string(view.shape);
  }
  EXPECT_TRUE(is_contiguous({{1, 3}, {77, 1}, 5}))
      << "the stride of an extent of 1 does not matter";
}

TEST(View, Permute) {
  EXPECT_EQ(permute(kDense, {2, 0, 1}), (StridedView{{6, 4, 5}, {1, 30, 6}, 0}));
  EXPECT_EQ(permute(dense_view({}), {}), dense_view({}));
  for (const Dims& wrong :
       {Dims{0, 1}, Dims{0, 1, 1}, Dims{0, 1, 3}, Dims{0, 1, 2, 3}, Dims{-1, 0, 1}}) {
    EXPECT_THROW(permute(kDense, wrong), Error);
  }
}

TEST(View, Slice) {
  EXPECT_EQ(slice(kDense, 1, 1, 2, 3), (StridedView{{4, 2, 6}, {30, 18, 1}, 6}));
  EXPECT_THROW(slice(kDense, 1, 1, 3, 2 + 1), Error);
  EXPECT_THROW(slice(kDense, 1, 0, 6), Error);
  EXPECT_THROW(slice(kDense, 1, 5, 1), Error);
  EXPECT_THROW(slice(kDense, 1, 6, 0), Error);
  EXPECT_THROW(slice(kDense, 1, -1, 2), Error);
  EXPECT_THROW(slice(kDense, 1, 0, -1), Error);
  EXPECT_THROW(slice(kDense, 1, 0, 2, 0), Error);
  EXPECT_THROW(slice(kDense, 1, 0, std::int64_t{1} << 62, std::int64_t{1} << 62), Error);
  EXPECT_THAT(
      [] { slice(kDense, 3, 0, 1); },
      testing::ThrowsMessage<Error>(testing::HasSubstr("axis 3 is out of range for shape 4x5x6")));
}

TEST(View, SelectRemovesTheAxis) {
  EXPECT_EQ(select(kDense, 1, 4), (StridedView{{4, 6}, {30, 1}, 24}));
  EXPECT_THROW(select(kDense, 1, 5), Error);
  EXPECT_THROW(select(kDense, 1, -1), Error);
  EXPECT_THROW(select(kDense, -1, 0), Error);
  EXPECT_THROW(transpose(kDense, 0, 3), Error);
}

TEST(View, BroadcastRepeatsExtentsOfOne) {
  EXPECT_EQ(broadcast_to(dense_view({5, 1}), {4, 5, 6}), (StridedView{{4, 5, 6}, {0, 1, 0}, 0}));
  EXPECT_EQ(broadcast_to(kDense, {4, 5, 6}), kDense);
  EXPECT_THROW(broadcast_to(kDense, {5, 6}), Error);
  EXPECT_THROW(broadcast_to(kDense, {4, 5, 12}), Error);
  EXPECT_THROW(broadcast_to(kDense, {4, 1, 6}), Error);
}

}  // namespace opbench
