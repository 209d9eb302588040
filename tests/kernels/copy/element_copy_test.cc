#include <gtest/gtest.h>

#include <numeric>
#include <vector>

#include "kernels/copy/strided_copy.h"
#include "tensor/elements.h"
#include "tensor/parallel.h"

namespace opbench {
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

// Channels 3, 4 of [1, 6, 1, 2], by hand in both formats.
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

// Blocks of 16 channels are crossed on both sides, with several threads.
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
