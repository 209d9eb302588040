#include "tensor/elements.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#include "tensor/error.h"
#include "tensor/half.h"
#include "tests/support.h"
#include "tests/tensor/definition.h"

namespace opbench {
namespace {

constexpr std::uint8_t kPoison = 0xAB;

std::vector<TensorDesc> descriptions() {
  std::vector<TensorDesc> result;
  for (const DType dtype : {DType::fp64, DType::fp32, DType::fp16, DType::uint8}) {
    result.push_back(describe(dtype, {3, 70000}));
    result.push_back(describe(dtype, {2, 37, 5, 7}));
    for (const Dims& shape :
         {Dims{2, 37, 5, 7}, Dims{3, 40, 1, 1}, Dims{2, 16, 3, 3}, Dims{37, 5, 7}, Dims{}}) {
      for (const int c0 : {8, 16, 32}) {
        result.push_back(describe(dtype, shape, Format::NC1HWC0));
        result.back().c0 = c0;
      }
    }
  }
  for (const Dims& shape : {Dims{2, 37, 5, 7}, Dims{24, 3, 3, 1}, Dims{48, 20, 1, 1}, Dims{35, 40},
                            Dims{2, 19, 3, 5, 2}, Dims{24, 1, 1, 1}}) {
    for (const TensorDesc& desc : every_storage(DType::fp16, shape)) result.push_back(desc);
  }
  return result;
}

/// A tensor of noise, also in the padding lanes, and its elements in logical order.
struct Noise {
  Tensor tensor;
  Bytes logical;

  std::uint8_t* element(std::int64_t i) {
    return &logical[static_cast<std::size_t>(i) * size_of(tensor.desc.dtype)];
  }
  explicit Noise(const TensorDesc& desc)
      : tensor(desc), logical(static_cast<std::size_t>(desc.elements()) * size_of(desc.dtype)) {
    const Bytes bytes = noise(desc.bytes());
    std::memcpy(tensor.data(), bytes.data(), bytes.size());
    for (std::int64_t i = 0; i < desc.elements(); ++i) {
      const std::int64_t from = position_by_definition(desc, indices_of(desc.shape, i));
      std::memcpy(element(i), &bytes[static_cast<std::size_t>(from) * size_of(desc.dtype)],
                  size_of(desc.dtype));
    }
  }
};

/// Ranges of every kind: whole, empty, within a channel, across channels, slabs and images.
std::vector<ElementRange> ranges(std::int64_t elements) {
  std::vector<ElementRange> result = {{0, elements}, {0, 0}, {elements, 0}};
  for (std::int64_t first = 0; first < elements; first += 1 + elements / 13) {
    for (const std::int64_t count : {1, 3, 34, 35, 36, 71, 600}) {
      result.push_back({first, std::min(count, elements - first)});
    }
  }
  return result;
}

template <class T>
std::vector<T> converted(DType dtype, const std::vector<double>& values) {
  std::vector<T> result(values.size());
  from_doubles(dtype, values.data(), std::ssize(values), result.data());
  return result;
}

bool same_bits(double a, double b) {
  return std::bit_cast<std::uint64_t>(a) == std::bit_cast<std::uint64_t>(b);
}

}  // namespace

TEST(ChangedCopy, EveryElementByItsPlaceRoundedToItsDType) {
  const TensorDesc desc = describe(DType::fp16, {2, 2});
  const std::vector<double> values = {1, -2, 3, -4};
  std::vector<std::uint16_t> storage(4);
  from_doubles(DType::fp16, values.data(), 4, storage.data());
  const Buffer copy = changed_copy(desc, storage.data(), [](std::int64_t place, double value) {
    return value * (place == 1 ? 1 + 0x1p-12 : 2);
  });
  std::vector<double> changed(4), kept(4);
  read_doubles(desc, copy.data(), {0, 4}, changed);
  read_doubles(desc, storage.data(), {0, 4}, kept);
  EXPECT_THAT(changed, testing::ElementsAre(2, -2, 6, -8));
  EXPECT_EQ(kept, values);
}

// Places follow the shape in every storage. Channels that fill up a block stay 0.
TEST(ChangedCopy, InTheStorageOfItsFormat) {
  const TensorDesc desc = describe(DType::fp32, {1, 3, 1, 2}, Format::NC1HWC0);
  const std::vector<float> storage(static_cast<std::size_t>(desc.storage_elements()));
  const Buffer copy = changed_copy(
      desc, storage.data(), [](std::int64_t place, double value) { return value + double(place); });
  std::vector<double> changed(6);
  read_doubles(desc, copy.data(), {0, 6}, changed);
  EXPECT_THAT(changed, testing::ElementsAre(0, 1, 2, 3, 4, 5));
}

TEST(Elements, BlocksCoverEveryElementOnceInOrder) {
  for (const TensorDesc& desc : descriptions()) {
    std::int64_t next = 0;
    for (std::int64_t i = 0; i < block_count(desc); ++i) {
      const ElementRange range = block(desc, i);
      EXPECT_EQ(range.first, next);
      EXPECT_GT(range.count, 0);
      EXPECT_LE(range.count, largest_block(desc));
      next += range.count;
    }
    EXPECT_EQ(next, desc.elements()) << to_string(desc);
  }
}

TEST(Elements, BlocksOfNc1hwc0AreSlabs) {
  const TensorDesc desc = describe(DType::fp16, {2, 20, 3, 3}, Format::NC1HWC0);
  EXPECT_EQ(block_count(desc), 4);
  EXPECT_EQ(largest_block(desc), 16 * 9);
  EXPECT_EQ(block(desc, 1).first, 16 * 9);
  EXPECT_EQ(block(desc, 1).count, 4 * 9);
  EXPECT_EQ(block(desc, 2).first, 20 * 9);
  EXPECT_EQ(block_count(describe(DType::fp16, {0, 20, 3, 3}, Format::NC1HWC0)), 0);
  EXPECT_EQ(largest_block(describe(DType::fp16, {0, 20})), 0);
}

TEST(Elements, ReadsAnyRange) {
  for (const TensorDesc& desc : descriptions()) {
    const Noise from(desc);
    const std::size_t size = size_of(desc.dtype);
    for (const ElementRange& range : ranges(desc.elements())) {
      const auto count = static_cast<std::size_t>(range.count) * size;
      Bytes read(count);
      read_elements(desc, from.tensor.data(), range, read.data());
      const std::uint8_t* const expected =
          &from.logical[0] + static_cast<std::size_t>(range.first) * size;
      ASSERT_EQ(read, Bytes(expected, expected + count)) << to_string(desc) << " " << range.first;
    }
  }
}

TEST(Elements, WritesAnyRangeAndNothingElse) {
  for (const TensorDesc& desc : descriptions()) {
    const std::size_t size = size_of(desc.dtype);
    const Noise to(desc);
    const Bytes before(to.tensor.as<std::uint8_t>(), to.tensor.as<std::uint8_t>() + desc.bytes());
    for (const ElementRange& range : ranges(desc.elements())) {
      const Bytes same(to.logical.begin() + range.first * std::int64_t(size),
                       to.logical.begin() + (range.first + range.count) * std::int64_t(size));
      write_elements(desc, to.tensor.data(), range, Bytes(same.size(), kPoison).data());
      Bytes read(same.size());
      read_elements(desc, to.tensor.data(), range, read.data());
      ASSERT_EQ(read, Bytes(same.size(), kPoison));
      write_elements(desc, to.tensor.data(), range, same.data());
      ASSERT_EQ(std::memcmp(to.tensor.data(), before.data(), before.size()), 0)
          << to_string(desc) << " " << range.first << " " << range.count;
      ASSERT_TRUE(to.tensor.buffer.guards_intact());
    }
  }
}

TEST(Elements, ReadDoublesIsReadThenConvert) {
  for (const TensorDesc& desc : descriptions()) {
    const Noise from(desc);
    for (const ElementRange& range : ranges(desc.elements())) {
      std::vector<double> read(static_cast<std::size_t>(range.count)), expected(read.size());
      read_doubles(desc, from.tensor.data(), range, read);
      to_doubles(desc.dtype,
                 from.logical.data() + static_cast<std::size_t>(range.first) * size_of(desc.dtype),
                 range.count, expected.data());
      const bool same = std::equal(read.begin(), read.end(), expected.begin(), same_bits);
      ASSERT_TRUE(same) << to_string(desc);
    }
  }
}

TEST(Elements, BlocksAreLargeEnough) {
  for (const Dims& shape : {Dims{32, 64, 60, 60}, Dims{512, 512, 3, 3}, Dims{2, 64, 8, 32, 32}}) {
    for (const TensorDesc& desc : every_storage(DType::fp16, shape)) {
      if (desc.format == Format::NC1HWC0) continue;
      EXPECT_GE(largest_block(desc), 16 * 1024) << to_string(desc);
      EXPECT_LE(largest_block(desc), 256 * 1024) << to_string(desc);
    }
  }
}

TEST(Elements, ShapesThatDoNotFitThrow) {
  TensorDesc desc = describe(DType::fp32, {2, 3, 4});
  desc.format = Format::NHWC;
  float value = 0;
  EXPECT_THROW(block_count(desc), Error);
  EXPECT_THROW(read_elements(desc, &value, {0, 1}, &value), Error);
  EXPECT_THROW(write_elements(desc, &value, {0, 1}, &value), Error);
  TensorDesc channels_last = describe(DType::fp32, {2, 4, 5, 3});
  channels_last.origin = channels_last.format = Format::NHWC;
  EXPECT_EQ(block_count(channels_last), 1) << "stored in the order of its shape";
}

TEST(ToDoubles, EveryDtype) {
  const std::vector<double> values = {0, 1, 100, 77};
  for (const DType dtype : kAllDTypes) {
    if (dtype > DType::boolean) continue;  // 77 is not one of their values
    std::vector<double> back(values.size());
    Bytes stored(values.size() * size_of(dtype));
    from_doubles(dtype, values.data(), 4, stored.data());
    to_doubles(dtype, stored.data(), 4, back.data());
    const bool boolean = dtype == DType::boolean;
    EXPECT_EQ(back, boolean ? (std::vector<double>{0, 1, 1, 1}) : values) << name(dtype);
  }
}

TEST(FromDoubles, Int4IsFromMinus8To7) {
  EXPECT_EQ(converted<std::int8_t>(DType::int4, {7.9, 8, 1e9, -8.5, -9, std::nan("")}),
            (std::vector<std::int8_t>{7, 7, 7, -8, -8, 0}));
}

TEST(FromDoubles, IntegersTruncateAndClamp) {
  const double inf = std::numeric_limits<double>::infinity();
  const std::vector<double> values = {1.9,    -1.9, 127.9, -128.9,      1e300,
                                      -1e300, inf,  -inf,  std::nan("")};
  EXPECT_EQ(converted<std::int8_t>(DType::int8, values),
            (std::vector<std::int8_t>{1, -1, 127, -128, 127, -128, 127, -128, 0}));
  EXPECT_EQ(converted<std::uint8_t>(DType::uint8, values),
            (std::vector<std::uint8_t>{1, 0, 127, 0, 255, 0, 255, 0, 0}));
  const std::int64_t max = std::numeric_limits<std::int64_t>::max();
  EXPECT_EQ(converted<std::int64_t>(DType::int64,
                                    {0x1p63, -0x1p63, -0x1p64, 0x1p62, 0x1.fffffffffffffp62}),
            (std::vector<std::int64_t>{max, -max - 1, -max - 1, max / 2 + 1, max - 1023}));
  EXPECT_EQ(converted<std::int32_t>(DType::int32, {2147483647.5, 2147483648, -2147483648.5}),
            (std::vector<std::int32_t>{2147483647, 2147483647, -2147483647 - 1}));
  EXPECT_EQ(converted<std::uint8_t>(DType::boolean, {0, 0.5, 1, 7, -3, std::nan("")}),
            (std::vector<std::uint8_t>{0, 0, 1, 1, 0, 0}));
}

// round_to_half and round_to_bfloat16 have their own tests.
TEST(FromDoubles, NarrowFloatsRoundOnce) {
  std::vector<double> values = {
      1 + 0x1p-11 + 0x1p-40, 1 + 0x1p-8 + 0x1p-40, -0.0, 1e-300, -1e300, 65520};
  for (int i = 0; i < 3000; ++i) values.push_back(std::ldexp(1 + i / 3001.0, i % 60 - 30));
  const std::vector<half> halves = converted<half>(DType::fp16, values);
  const std::vector<bfloat16> bfloats = converted<bfloat16>(DType::bf16, values);
  for (std::size_t i = 0; i < values.size(); ++i) {
    EXPECT_EQ(halves[i].x, round_to_half(values[i]).x) << values[i];
    EXPECT_EQ(bfloats[i].value, round_to_bfloat16(values[i]).value) << values[i];
  }
  EXPECT_TRUE(std::isnan(float(converted<half>(DType::fp16, {std::nan("")})[0])));
  EXPECT_TRUE(std::isnan(float(converted<bfloat16>(DType::bf16, {std::nan("")})[0])));
}

}  // namespace opbench
