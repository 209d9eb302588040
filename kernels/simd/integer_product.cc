// Products of 8-bit integers: pairs of int16 are multiplied and added at a time, or four bytes.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/simd/integer_product.cc"
#include "kernels/simd/integer_product.h"

#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <algorithm>
#include <cstddef>
#include <cstring>

#include "tensor/processor.h"

HWY_BEFORE_NAMESPACE();
namespace opbench {
namespace HWY_NAMESPACE {
namespace {
namespace hn = hwy::HWY_NAMESPACE;

#if HWY_TARGET != HWY_SCALAR
using I32 = hn::CappedTag<std::int32_t, kIntegerStrip>;
using I16 = hn::Repartition<std::int16_t, I32>;
using VI32 = hn::Vec<I32>;

// Sums of a tile fill the registers: 32 with avx3, 16 with avx2.
constexpr int kTallest = HWY_TARGET <= HWY_AVX3 ? 8 : 6;
constexpr int kVectors = HWY_TARGET <= HWY_AVX3 ? 3 : 2;

HWY_INLINE hn::Vec<I16> pairs_at(const std::byte* from) {
  return hn::LoadU(I16(), reinterpret_cast<const std::int16_t*>(from));
}

// The columns from `column` on. Rows past the last repeat the last row.
template <int kRows>
void tile(const IntegerLayout& layout, std::int64_t rows, const std::byte* left,
          const std::byte* panel, std::int64_t column, std::int32_t* c) {
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(I32()));
  const std::byte *row[kRows], *right[kVectors];
  VI32 even[kRows][kVectors], odd[kRows][kVectors];
  HWY_UNROLL(3)
  for (int v = 0; v < kVectors; ++v) {
    const std::int64_t first = column + v * lanes;
    right[v] = panel + first / kIntegerStrip * layout.strip_bytes() + first % kIntegerStrip * 4;
  }
  HWY_UNROLL(8)
  for (int i = 0; i < kRows; ++i) {
    row[i] = left + std::min<std::int64_t>(i, rows - 1) * layout.row_bytes();
    HWY_UNROLL(3)
    for (int v = 0; v < kVectors; ++v) even[i][v] = odd[i][v] = hn::Zero(I32());
  }
  for (std::int64_t g = 0; g < layout.groups(); ++g) {
    hn::Vec<I16> b[kVectors];
    HWY_UNROLL(3)
    for (int v = 0; v < kVectors; ++v) b[v] = pairs_at(right[v] + g * kIntegerStrip * 4);
    HWY_UNROLL(8)
    for (int i = 0; i < kRows; ++i) {
      std::int32_t pair;
      std::memcpy(&pair, row[i] + g * 4, sizeof pair);
      const auto a = hn::BitCast(I16(), hn::Set(I32(), pair));
      HWY_UNROLL(3)
      for (int v = 0; v < kVectors; ++v) {
        even[i][v] = hn::ReorderWidenMulAccumulate(I32(), a, b[v], even[i][v], odd[i][v]);
      }
    }
  }
  HWY_UNROLL(8)
  for (int i = 0; i < kRows; ++i) {
    HWY_UNROLL(3)
    for (int v = 0; v < kVectors; ++v) {
      std::int32_t* const to = c + std::min<std::int64_t>(i, rows - 1) * kIntegerPanel + column;
      hn::StoreU(hn::RearrangeToOddPlusEven(even[i][v], odd[i][v]), I32(), to + v * lanes);
    }
  }
}

#endif

}  // namespace

#if HWY_TARGET == HWY_SCALAR
void product(const IntegerLayout& layout, std::int64_t rows, std::int64_t columns,
             const std::byte* left, const std::byte* panel, std::int32_t* c) {
  std::fill_n(c, rows * kIntegerPanel, 0);
  for (std::int64_t i = 0; i < rows; ++i) {
    const auto* const a = reinterpret_cast<const std::int16_t*>(left + i * layout.row_bytes());
    for (std::int64_t strip = 0; strip * kIntegerStrip < columns; ++strip) {
      const auto* const b =
          reinterpret_cast<const std::int16_t*>(panel + strip * layout.strip_bytes());
      std::int32_t* const to = c + i * kIntegerPanel + strip * kIntegerStrip;
      for (std::int64_t g = 0; g < layout.groups(); ++g) {
        for (std::int64_t j = 0; j < kIntegerStrip; ++j) {
          const std::int16_t* const pair = b + (g * kIntegerStrip + j) * 2;
          to[j] += a[g * 2] * pair[0] + a[g * 2 + 1] * pair[1];
        }
      }
    }
  }
}
#else
void product(const IntegerLayout& layout, std::int64_t rows, std::int64_t columns,
             const std::byte* left, const std::byte* panel, std::int32_t* c) {
  const auto width = kVectors * static_cast<std::int64_t>(hn::Lanes(I32()));
  for (std::int64_t column = 0; column < columns; column += width) {
    std::int64_t row = 0;
    for (; rows - row > 4; row += kTallest) {
      tile<kTallest>(layout, rows - row, left + row * layout.row_bytes(), panel, column,
                     c + row * kIntegerPanel);
    }
    if (row < rows) {
      tile<4>(layout, rows - row, left + row * layout.row_bytes(), panel, column,
              c + row * kIntegerPanel);
    }
  }
}

#endif

}  // namespace HWY_NAMESPACE
}  // namespace opbench
HWY_AFTER_NAMESPACE();

#if HWY_ONCE

#if HWY_ARCH_X86_64
#include <immintrin.h>
#endif

namespace opbench {
namespace {

HWY_EXPORT(product);

#if HWY_ARCH_X86_64
// Highway 1.0.3 has no name for this instruction.
template <int kRows>
__attribute__((target("avx512f,avx512bw,avx512vl,avx512vnni"))) void tile_of_bytes(
    const IntegerLayout& layout, std::int64_t rows, const std::byte* left,
    const std::int32_t* row_sums, const std::byte* panel, std::int64_t column, std::int32_t* c) {
  constexpr int kVectors = 3;
  const std::byte *row[kRows], *right[kVectors];
  __m512i sums[kRows][kVectors];
  for (int v = 0; v < kVectors; ++v) {
    right[v] = panel + (column / kIntegerStrip + v) * layout.strip_bytes();
  }
#pragma GCC unroll 8
  for (int i = 0; i < kRows; ++i) {
    const std::int64_t of = std::min<std::int64_t>(i, rows - 1);
    row[i] = left + of * layout.row_bytes();
    const auto more = static_cast<std::int32_t>(std::uint32_t(row_sums[of]) * 128);
    for (int v = 0; v < kVectors; ++v) {
      sums[i][v] = _mm512_sub_epi32(_mm512_setzero_si512(), _mm512_set1_epi32(more));
    }
  }
  for (std::int64_t g = 0; g < layout.groups(); ++g) {
    __m512i b[kVectors];
#pragma GCC unroll 3
    for (int v = 0; v < kVectors; ++v) b[v] = _mm512_loadu_si512(right[v] + g * 64);
#pragma GCC unroll 8
    for (int i = 0; i < kRows; ++i) {
      std::int32_t four;
      std::memcpy(&four, row[i] + g * 4, sizeof four);
      const __m512i a = _mm512_set1_epi32(four);
#pragma GCC unroll 3
      for (int v = 0; v < kVectors; ++v) sums[i][v] = _mm512_dpbusd_epi32(sums[i][v], b[v], a);
    }
  }
#pragma GCC unroll 8
  for (int i = 0; i < kRows; ++i) {
    std::int32_t* const to = c + std::min<std::int64_t>(i, rows - 1) * kIntegerPanel + column;
#pragma GCC unroll 3
    for (int v = 0; v < kVectors; ++v) _mm512_storeu_si512(to + v * kIntegerStrip, sums[i][v]);
  }
}

void product_of_bytes(const IntegerLayout& layout, std::int64_t rows, std::int64_t columns,
                      const std::byte* left, const std::int32_t* sums, const std::byte* panel,
                      std::int32_t* c) {
  for (std::int64_t column = 0; column < columns; column += 3 * kIntegerStrip) {
    std::int64_t row = 0;
    for (; rows - row > 4; row += 8) {
      tile_of_bytes<8>(layout, rows - row, left + row * layout.row_bytes(), sums + row, panel,
                       column, c + row * kIntegerPanel);
    }
    if (row < rows) {
      tile_of_bytes<4>(layout, rows - row, left + row * layout.row_bytes(), sums + row, panel,
                       column, c + row * kIntegerPanel);
    }
  }
}
#endif

}  // namespace

IntegerForm integer_form() {
#if HWY_ARCH_X86_64
  static const bool has_vnni = __builtin_cpu_supports("avx512vnni") != 0;
  if (has_vnni && current_isa() == "avx3") return IntegerForm::bytes;
#endif
  return IntegerForm::pairs;
}

void integer_product(const IntegerLayout& layout, std::int64_t rows, std::int64_t columns,
                     const void* left, [[maybe_unused]] const std::int32_t* sums, const void* panel,
                     std::int32_t* c) {
  const auto* const a = static_cast<const std::byte*>(left);
  const auto* const b = static_cast<const std::byte*>(panel);
#if HWY_ARCH_X86_64
  if (layout.form == IntegerForm::bytes) {
    return product_of_bytes(layout, rows, columns, a, sums, b, c);
  }
#endif
  HWY_DYNAMIC_DISPATCH(product)(layout, rows, columns, a, b, c);
}

}  // namespace opbench
#endif  // HWY_ONCE
