#include "compare/tensor_cut.h"

#include <gmock/gmock.h>

#include "tensor/elements.h"

namespace opbench {
namespace {

using testing::ElementsAre;

/// 0, 1, 2, ... stored as `desc` states.
Tensor counted(const TensorDesc& desc) {
  std::vector<double> values(static_cast<std::size_t>(desc.elements()));
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<double>(i);
  std::vector<std::byte> dense(values.size() * size_of(desc.dtype));
  from_doubles(desc.dtype, values.data(), std::ssize(values), dense.data());
  Tensor tensor(desc);
  write_elements(desc, tensor.data(), {0, desc.elements()}, dense.data());
  return tensor;
}

std::vector<double> values_of(const std::optional<Tensor>& tensor) {
  if (!tensor) return {-999};
  std::vector<double> values(static_cast<std::size_t>(tensor->desc.elements()));
  read_doubles(tensor->desc, tensor->data(), {0, tensor->desc.elements()}, values);
  return values;
}

/// The part of 0, 1, ... in fp32 that remains.
std::vector<double> cut(const Dims& shape, const TensorCut& cut) {
  return values_of(
      cut_tensor(counted(describe(DType::fp32, shape)), cut, describe(DType::fp32, cut.shape)));
}

Tensor index_of(const std::vector<double>& numbers) {
  Tensor tensor(describe(DType::int32, {std::ssize(numbers)}));
  from_doubles(DType::int32, numbers.data(), std::ssize(numbers), tensor.data());
  return tensor;
}

}  // namespace

// 3x4 is 0 1 2 3, 4 5 6 7, 8 9 10 11.
TEST(TensorCut, KeepsPlacesOfAxes) {
  TensorCut rows = TensorCut::all_of({3, 4});
  EXPECT_THAT(cut({3, 4}, rows), testing::SizeIs(12));
  rows.keep(0, {0, 2});
  EXPECT_EQ(rows.shape, (Dims{2, 4}));
  EXPECT_THAT(cut({3, 4}, rows), ElementsAre(0, 1, 2, 3, 8, 9, 10, 11));
  rows.keep(1, {1, 3});
  EXPECT_THAT(cut({3, 4}, rows), ElementsAre(1, 3, 9, 11));
  TensorCut swapped = TensorCut::all_of({3, 4});
  swapped.keep(0, {2, 0});
  swapped.keep(1, {1});
  EXPECT_THAT(cut({3, 4}, swapped), ElementsAre(9, 1)) << "in the order that is asked for";
}

TEST(TensorCut, OfAScalarIsTheScalar) {
  EXPECT_THAT(cut({}, TensorCut::all_of({})), ElementsAre(0));
}

// New places hold the fill value, which is 0 by default.
TEST(TensorCut, FillsPlacesThatWereNotThere) {
  TensorCut padded = TensorCut::all_of({2, 2});
  padded.keep(0, {kFilled, 1});
  padded.keep(1, {kFilled, 0, 1});
  EXPECT_THAT(cut({2, 2}, padded), ElementsAre(0, 0, 0, 0, 2, 3));
  padded.fill = -5;
  EXPECT_THAT(cut({2, 2}, padded), ElementsAre(-5, -5, -5, -5, 2, 3));
}

// The tensor is viewed as a row of 12.
TEST(TensorCut, ViewsATensorInAnotherShape) {
  const TensorCut row{{12}, {Places{3, 7}}, {1, 2}, 0, std::nullopt};
  EXPECT_THAT(cut({3, 4}, row), ElementsAre(3, 7));
}

// 3 channels in blocks of 16 lanes. Places are logical, and the remaining part may be stored in a
// plain format.
TEST(TensorCut, OfBlocksGoesByLogicalPlaces) {
  const TensorDesc blocks = describe(DType::fp32, {1, 3, 1, 2}, Format::NC1HWC0);
  TensorCut channel = TensorCut::all_of(blocks.shape);
  channel.keep(1, {0, 2});
  TensorDesc rest = blocks;
  rest.shape = channel.shape;
  EXPECT_THAT(values_of(cut_tensor(counted(blocks), channel, rest)), ElementsAre(0, 1, 4, 5));
  EXPECT_THAT(values_of(cut_tensor(counted(blocks), channel, describe(DType::fp32, channel.shape))),
              ElementsAre(0, 1, 4, 5));
}

// The places 2, 5 and 9 of an axis of 10 remain and become 0, 1, 2. -1 is 9, and -5 is 5.
TEST(TensorCut, RenumbersAnIndex) {
  TensorCut index = TensorCut::all_of({4});
  index.renumbering = Renumbering{{2, 5, 9}, 10};
  const TensorDesc desc = describe(DType::int32, {4});
  EXPECT_THAT(values_of(cut_tensor(index_of({5, 2, -1, -5}), index, desc)),
              ElementsAre(1, 0, 2, 1));
  EXPECT_FALSE(cut_tensor(index_of({5, 3, 2, 2}), index, desc).has_value()) << "3 is gone";
  EXPECT_FALSE(cut_tensor(index_of({5, 2, 2, 10}), index, desc).has_value());
}

TEST(TensorCut, CountsPlacesOn) {
  EXPECT_THAT(places_from(3, 4), ElementsAre(3, 4, 5, 6));
  EXPECT_THAT(places_from(-1, 2), ElementsAre(-1, 0));
  EXPECT_TRUE(places_from(5, 0).empty());
}

}  // namespace opbench
