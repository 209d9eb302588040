#include "tensor/layout.h"

#include <gmock/gmock.h>

#include <cstring>
#include <vector>

#include "tensor/error.h"
#include "tensor/parallel.h"
#include "tests/support.h"

namespace opbench {
namespace {

using Bytes = std::vector<std::uint8_t>;

constexpr std::uint8_t kPoison = 0xAB;

std::vector<std::int64_t> channel_counts() {
  std::vector<std::int64_t> counts = {58, 116, 232};
  for (std::int64_t c = 1; c <= 40; ++c) counts.push_back(c);
  return counts;
}

std::size_t bytes_of(const Dims& dims, std::size_t element_bytes) {
  return static_cast<std::size_t>(element_count(dims)) * element_bytes;
}

/// The element map of CANN's trans_data, (n,c,h,w) -> [n, c/c0, h, w, c%c0], one element at a time.
Bytes blocked_by_definition(const Bytes& plain, const Dims& nchw, int c0, std::size_t size,
                            std::uint8_t padding) {
  const std::int64_t c = nchw[1], pixels = nchw[2] * nchw[3], c1 = (c + c0 - 1) / c0;
  Bytes blocked(static_cast<std::size_t>(nchw[0] * c1 * pixels * c0) * size, padding);
  for (std::int64_t n = 0; n < nchw[0]; ++n) {
    for (std::int64_t k = 0; k < c; ++k) {
      for (std::int64_t p = 0; p < pixels; ++p) {
        const std::int64_t to = ((n * c1 + k / c0) * pixels + p) * c0 + k % c0;
        const std::int64_t from = (n * c + k) * pixels + p;
        std::memcpy(&blocked[static_cast<std::size_t>(to) * size],
                    &plain[static_cast<std::size_t>(from) * size], size);
      }
    }
  }
  return blocked;
}

template <class Visit>
void for_each_geometry(Visit visit) {
  for (const std::int64_t c : channel_counts()) {
    for (const auto& [h, w] : {std::pair{1, 1}, {7, 7}, {12, 13}}) {
      for (const int c0 : {8, 16, 32}) {
        for (const std::size_t size : {1, 2, 4, 8}) visit(Dims{2, c, h, w}, c0, size);
      }
    }
  }
}

}  // namespace

TEST(Layout, ToNc1hwc0MatchesTheDefinitionAndZeroesPadding) {
  for_each_geometry([](const Dims& nchw, int c0, std::size_t size) {
    const Bytes plain = noise(bytes_of(nchw, size));
    const Bytes expected = blocked_by_definition(plain, nchw, c0, size, 0);
    Bytes blocked(expected.size(), kPoison);
    nchw_to_nc1hwc0(plain.data(), blocked.data(), nchw, c0, size);
    ASSERT_EQ(blocked, expected) << to_string(nchw) << " c0 " << c0 << " of " << size << " bytes";
  });
}

TEST(Layout, FromNc1hwc0IsTheInverseAndIgnoresPadding) {
  for_each_geometry([](const Dims& nchw, int c0, std::size_t size) {
    const Bytes plain = noise(bytes_of(nchw, size));
    const Bytes blocked = blocked_by_definition(plain, nchw, c0, size, kPoison);
    Bytes back(plain.size(), kPoison);
    nc1hwc0_to_nchw(blocked.data(), back.data(), nchw, c0, size);
    ASSERT_EQ(back, plain) << to_string(nchw) << " c0 " << c0 << " of " << size << " bytes";
  });
}

TEST(Layout, LargePlanesAreCutIntoPieces) {
  const Dims nchw = {1, 20, 97, 101};  // more pixels than a piece has
  const Bytes plain = noise(bytes_of(nchw, 2));
  const Bytes expected = blocked_by_definition(plain, nchw, 16, 2, 0);
  for (const int threads : {1, 2, 7}) {
    with_threads(threads, [&] {
      Bytes blocked(expected.size(), kPoison), back(plain.size(), kPoison);
      nchw_to_nc1hwc0(plain.data(), blocked.data(), nchw, 16, 2);
      nc1hwc0_to_nchw(blocked.data(), back.data(), nchw, 16, 2);
      EXPECT_EQ(blocked, expected);
      EXPECT_EQ(back, plain);
    });
  }
}

TEST(Layout, ConvertsTensorsOfEveryRankUpToFour) {
  for (const Dims& shape : {Dims{}, Dims{21}, Dims{21, 3}, Dims{21, 3, 5}, Dims{2, 21, 3, 5}}) {
    for (const DType dtype : kAllDTypes) {
      Tensor plain(describe(dtype, shape)), back(plain.desc);
      Tensor blocked(describe(dtype, shape, Format::NC1HWC0));
      const Bytes bytes = noise(plain.desc.bytes());
      std::memcpy(plain.data(), bytes.data(), bytes.size());
      std::memset(blocked.data(), kPoison, blocked.desc.bytes());
      convert_layout(plain, blocked);
      convert_layout(blocked, back);
      const Bytes expected =
          blocked_by_definition(bytes, expand_to_nchw(shape), blocked.desc.c0, size_of(dtype), 0);
      EXPECT_EQ(std::memcmp(blocked.data(), expected.data(), expected.size()), 0);
      EXPECT_EQ(std::memcmp(back.data(), bytes.data(), bytes.size()), 0);
      EXPECT_TRUE(blocked.buffer.guards_intact() && back.buffer.guards_intact());
    }
  }
}

TEST(Layout, EqualFormatsAreCopied) {
  for (const Format format : {Format::NCHW, Format::NC1HWC0, Format::NHWC}) {
    Tensor from(describe(DType::fp32, {2, 32, 30, 50}, format)), to(from.desc);
    const Bytes bytes = noise(from.desc.bytes());
    std::memcpy(from.data(), bytes.data(), bytes.size());
    convert_layout(from, to);
    EXPECT_EQ(std::memcmp(to.data(), bytes.data(), bytes.size()), 0) << name(format);
  }
}

TEST(Layout, EmptyTensorsAreFine) {
  Tensor plain(describe(DType::fp16, {0, 3, 4, 4}));
  Tensor blocked(describe(DType::fp16, {0, 3, 4, 4}, Format::NC1HWC0));
  EXPECT_NO_THROW(convert_layout(plain, blocked));
  EXPECT_NO_THROW(convert_layout(blocked, plain));
}

TEST(Layout, RejectsWhatItCannotConvert) {
  Tensor plain(describe(DType::fp16, {1, 3, 4, 4}));
  Tensor other_shape(describe(DType::fp16, {1, 4, 4, 3}, Format::NC1HWC0));
  Tensor other_dtype(describe(DType::bf16, {1, 3, 4, 4}, Format::NC1HWC0));
  EXPECT_THAT([&] { convert_layout(plain, other_shape); },
              testing::ThrowsMessage<Error>(testing::HasSubstr("must be the same")));
  EXPECT_THROW(convert_layout(plain, other_dtype), Error);
}

}  // namespace opbench
