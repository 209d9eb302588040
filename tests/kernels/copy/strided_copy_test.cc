#include "kernels/copy/strided_copy.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <numeric>
#include <random>
#include <vector>

#include "tensor/buffer.h"
#include "tensor/elements.h"
#include "tensor/parallel.h"
#include "tests/support.h"

namespace opbench {
namespace {

// The definition, element by element.
void copy_by_definition(const StridedNest& nest, const std::byte* from, std::byte* to) {
  const auto bytes = static_cast<std::int64_t>(nest.element_bytes);
  std::int64_t count = 1;
  for (const StridedLoop& loop : nest.loops) count *= loop.extent;
  for (std::int64_t i = 0; i < count; ++i) {
    std::int64_t rest = i, source = nest.from_offset, target = nest.to_offset;
    bool is_valid = true;
    for (std::size_t k = nest.loops.size(); k-- > 0;) {
      const StridedLoop& loop = nest.loops[k];
      const std::int64_t index = rest % loop.extent;
      rest /= loop.extent;
      source += index * loop.from_stride;
      target += index * loop.to_stride;
      is_valid = is_valid && index < loop.valid;
    }
    if (is_valid)
      std::memcpy(to + target * bytes, from + source * bytes, nest.element_bytes);
    else
      std::memset(to + target * bytes, 0, nest.element_bytes);
  }
}

std::int64_t extent_of(const StridedNest& nest, std::int64_t offset,
                       std::int64_t StridedLoop::*stride) {
  std::int64_t last = offset;
  for (const StridedLoop& loop : nest.loops) {
    const std::int64_t reached = stride == &StridedLoop::from_stride ? loop.valid : loop.extent;
    last += (std::max<std::int64_t>(reached, 1) - 1) * loop.*stride;
  }
  return last + 1;
}

// Both ways of storing are tried, with one and three threads. Bytes outside the output's places
// must stay unchanged.
void expect_copies(const StridedNest& nest) {
  const auto bytes = static_cast<std::size_t>(nest.element_bytes);
  const auto source_bytes =
      static_cast<std::size_t>(extent_of(nest, nest.from_offset, &StridedLoop::from_stride)) *
      bytes;
  const auto target_bytes =
      static_cast<std::size_t>(extent_of(nest, nest.to_offset, &StridedLoop::to_stride)) * bytes;
  const Buffer from(source_bytes), expected(target_bytes), actual(target_bytes);
  const std::vector<std::uint8_t> data = noise(source_bytes);
  std::memcpy(from.data(), data.data(), source_bytes);
  std::memset(expected.data(), 0xA5, target_bytes);
  copy_by_definition(nest, static_cast<const std::byte*>(from.data()),
                     static_cast<std::byte*>(expected.data()));
  for (const bool stream : {false, true}) {
    for (const int threads : {1, 3}) {
      std::memset(actual.data(), 0xA5, target_bytes);
      with_threads(threads, [&] { StridedCopy(nest, stream).run(from.data(), actual.data()); });
      ASSERT_EQ(std::memcmp(actual.data(), expected.data(), target_bytes), 0)
          << "stream " << stream << ", threads " << threads;
      ASSERT_TRUE(actual.guards_intact());
    }
  }
}

// A dense tensor with its axes in another order.
StridedNest permuted(const std::vector<std::int64_t>& shape, const std::vector<std::size_t>& perm,
                     int bytes) {
  StridedNest nest{bytes, 0, 0, {}};
  std::vector<std::int64_t> strides(shape.size(), 1);
  for (std::size_t i = shape.size(); i-- > 1;) strides[i - 1] = strides[i] * shape[i];
  std::int64_t to_stride = 1;
  for (std::size_t i = perm.size(); i-- > 0;) {
    nest.loops.push_back({shape[perm[i]], strides[perm[i]], to_stride});
    to_stride *= shape[perm[i]];
  }
  return nest;
}

}  // namespace

TEST(StridedCopy, PermutesAnyShape) {
  std::mt19937 random(7);
  const std::int64_t extents[] = {1, 2, 3, 4, 5, 7, 8, 15, 16, 17, 31, 33, 64, 65};
  on_every_isa([&] {
    for (int round = 0; round < 120; ++round) {
      const std::size_t rank = 1 + random() % 5;
      std::vector<std::int64_t> shape(rank);
      for (auto& extent : shape) extent = extents[random() % (rank > 3 ? 9 : 14)];
      std::vector<std::size_t> perm(rank);
      std::iota(perm.begin(), perm.end(), 0);
      std::shuffle(perm.begin(), perm.end(), random);
      const int bytes = 1 << random() % 4;
      SCOPED_TRACE(testing::Message() << "round " << round << ", " << bytes << " bytes");
      expect_copies(permuted(shape, perm, bytes));
    }
  });
}

// Places and sizes are around the squares and the cache line, on both sides.
TEST(StridedCopy, TransposesEverySizeOfPlane) {
  on_every_isa([] {
    for (const int bytes : {1, 2, 4, 8}) {
      for (const std::int64_t rows : {1, 3, 4, 8, 15, 16, 17, 32, 49, 65}) {
        for (const std::int64_t columns : {2, 4, 7, 8, 16, 18, 33, 64, 67}) {
          SCOPED_TRACE(testing::Message() << bytes << " bytes, " << rows << " x " << columns);
          expect_copies(permuted({2, rows, columns}, {0, 2, 1}, bytes));
        }
      }
    }
  });
}

// Rows of the input are a whole page apart, and blocks of several lines have 12 neighbours.
TEST(StridedCopy, RowsOfAPageAndBlocksOfLines) {
  on_every_isa([] {
    expect_copies(permuted({35, 1024}, {1, 0}, 4));
    expect_copies(permuted({2, 12, 9, 64}, {0, 2, 1, 3}, 4));
    expect_copies(permuted({2, 20, 9, 32}, {0, 2, 1, 3}, 4));
  });
}

// NC1HWC0 with a last block of `lanes` channels. Conversion to it writes zeros as padding;
// conversion from it does not store the padding.
TEST(StridedCopy, PadsTheLastBlockAndDropsThePadding) {
  on_every_isa([] {
    for (const int bytes : {1, 2, 4}) {
      const std::int64_t c0 = bytes == 1 ? 32 : 16;
      for (const std::int64_t pixels : {1, 4, 7, 16, 49, 64, 196}) {
        for (std::int64_t lanes = 1; lanes <= c0; lanes += 3) {
          SCOPED_TRACE(testing::Message() << bytes << " bytes, " << pixels << " x " << lanes);
          expect_copies(
              {bytes,
               0,
               0,
               {{3, lanes * pixels, c0 * pixels}, {c0, pixels, 1, lanes, lanes}, {pixels, 1, c0}}});
          expect_copies(
              {bytes,
               0,
               0,
               {{3, c0 * pixels, lanes * pixels}, {lanes, 1, pixels, lanes, c0}, {pixels, c0, 1}}});
        }
      }
    }
  });
}

TEST(StridedCopy, BroadcastsStepsAndPadsRows) {
  for (const int bytes : {1, 2, 4, 8}) {
    expect_copies({bytes, 0, 0, {{5, 1, 70}, {70, 0, 1}}});                    // broadcast
    expect_copies({bytes, 3, 0, {{6, 100, 33}, {33, 3, 1}}});                  // every third
    expect_copies({bytes, 0, 2, {{9, 20, 32}, {32, 1, 1, 20, 20}}});           // rows padded
    expect_copies({bytes, 1, 1, {{4, 7, 50}, {3, 40, 10}, {5, 1, 2}}});        // gaps in the output
    expect_copies({bytes, 0, 0, {{40, 16, 640}, {37, 640, 16}, {16, 1, 1}}});  // blocks
  }
}

TEST(StridedCopy, OfNothingDoesNothing) {
  const Buffer buffer(64);
  StridedCopy({4, 0, 0, {{0, 1, 1}}}, true).run(buffer.data(), buffer.data());
  expect_copies({4, 0, 0, {}});
}

// Planes exceed a part, so that stages and prefetching reach their ends.
TEST(StridedCopy, CutsLargePlanes) {
  expect_copies(permuted({2, 300, 1111}, {0, 2, 1}, 4));
  expect_copies(permuted({3, 17, 9000}, {2, 0, 1}, 2));
  expect_copies(permuted({2, 20000, 16}, {0, 2, 1}, 2));
  expect_copies(permuted({1000, 640}, {1, 0}, 1));
}

namespace {

using Numbers = std::vector<std::int32_t>;

Numbers counted(std::int64_t count, std::int32_t first = 0) {
  Numbers values(static_cast<std::size_t>(count));
  std::iota(values.begin(), values.end(), first);
  return values;
}

// The logical elements of a tensor, in order.
Numbers elements(const TensorDesc& desc, const Numbers& storage) {
  Numbers values(static_cast<std::size_t>(desc.elements()));
  read_elements(desc, storage.data(), {0, desc.elements()}, values.data());
  return values;
}

Numbers stored(const TensorDesc& desc, const Numbers& values) {
  Numbers storage(static_cast<std::size_t>(desc.storage_elements()), -1);
  write_elements(desc, storage.data(), {0, desc.elements()}, values.data());
  return storage;
}

TensorDesc desc_of(Dims shape, Format format) {
  return describe(DType::int32, std::move(shape), format);
}

}  // namespace

TEST(ElementCopy, FromATransposedView) {  // [[0 1 2] [3 4 5]] -> [[0 3] [1 4] [2 5]]
  const Numbers from = counted(6);
  Numbers to(6);
  copy_view({{3, 2}, {1, 3}, 0}, dense_view({3, 2}), 4)(from.data(), to.data());
  EXPECT_EQ(to, (Numbers{0, 3, 1, 4, 2, 5}));
}

TEST(ElementCopy, EveryWidth) {  // every second element
  const std::vector<std::uint8_t> from = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
  for (const std::int64_t bytes : {1, 2, 4, 8}) {
    const std::int64_t count = 8 / bytes;
    std::vector<std::uint8_t> to(8), expected;
    copy_view({{count}, {2}, 1}, dense_view({count}), static_cast<std::size_t>(bytes))(from.data(),
                                                                                       to.data());
    for (std::int64_t i = 1; i < 2 * count; i += 2) {
      expected.insert(expected.end(), from.begin() + i * bytes, from.begin() + (i + 1) * bytes);
    }
    EXPECT_EQ(to, expected) << bytes;
  }
}

TEST(ElementCopy, ScalarsAndNothing) {
  const Numbers from = {7};
  Numbers to = {0};
  copy_view(dense_view({}), dense_view({}), 4)(from.data(), to.data());
  EXPECT_EQ(to[0], 7);
  copy_view(dense_view({0, 3}), dense_view({0, 3}), 4)(nullptr, nullptr);
}

// Channels 3 and 4 of [1, 6, 1, 2], by hand in both formats.
TEST(ElementCopy, APartOfAnAxis) {
  for (const Format format : {Format::NCHW, Format::NC1HWC0}) {
    const TensorDesc whole = desc_of({1, 6, 1, 2}, format), part = desc_of({1, 2, 1, 2}, format);
    const Numbers from = stored(whole, counted(12));
    Numbers out = stored(part, Numbers(4, -1));
    copy_out_of(whole, part, 1, 3)(from.data(), out.data());
    EXPECT_EQ(elements(part, out), (Numbers{6, 7, 8, 9})) << name(format);
    Numbers back = stored(whole, Numbers(12, 0));
    copy_into(part, whole, 1, 3)(out.data(), back.data());
    EXPECT_EQ(elements(whole, back), (Numbers{0, 0, 0, 0, 0, 0, 6, 7, 8, 9, 0, 0}));
  }
}

// The part begins and ends inside blocks of 16 channels. Several threads copy it.
TEST(ElementCopy, PartsOfManyChannels) {
  for (const Format format : {Format::NCHW, Format::NC1HWC0}) {
    const TensorDesc whole = desc_of({2, 58, 3, 5}, format), part = desc_of({2, 29, 3, 5}, format);
    const Numbers from = stored(whole, counted(whole.elements()));
    Numbers halves[2], back(from.size(), -1);
    with_threads(2, [&] {
      for (const int i : {0, 1}) {
        halves[i] = stored(part, Numbers(static_cast<std::size_t>(part.elements())));
        copy_out_of(whole, part, 1, 29 * i)(from.data(), halves[i].data());
        copy_into(part, whole, 1, 29 * i)(halves[i].data(), back.data());
      }
    });
    EXPECT_EQ(elements(whole, back), counted(whole.elements())) << name(format);
    EXPECT_EQ(elements(part, halves[1])[0], 29 * 3 * 5) << name(format);
  }
}

}  // namespace opbench
