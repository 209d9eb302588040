#include "kernels/simd/pair_product.h"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <vector>

#include "tensor/processor.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace opbench {

#if defined(__x86_64__)
namespace {

constexpr std::int64_t kLanes = 16;
constexpr __mmask16 kAll = 0xFFFF;  // GCC 12 warns about its own forms without a mask

// Exponents of the factors of a product, as stored, for which the product and every difference of
// such products are 0 or in the normal range of fp32: 2^(sum - 2*127 - 2*7) is at least 2^-126.
constexpr int kLeastExponents = 142;

using Word = std::uint32_t;

[[gnu::target("avx512f,avx512bw"), gnu::always_inline]] inline __m512i less_than_magnitude(
    __m512i words) {
  const __m512i magnitude = _mm512_and_si512(words, _mm512_set1_epi16(0x7FFF));
  return _mm512_sub_epi16(magnitude, _mm512_set1_epi16(1));  // 0 becomes the greatest
}

[[gnu::target("avx512f")]] __mmask16 first_lanes(std::int64_t count) {
  return static_cast<__mmask16>(count >= kLanes ? 0xFFFF : (1 << count) - 1);
}

// The smallest exponent of the non-zero terms of `rows` rows of words; 0 for subnormal terms.
[[gnu::target("avx512f,avx512bw")]] int least_exponent(const Word* words, std::int64_t rows,
                                                       std::int64_t count, std::int64_t apart) {
  __m512i least = _mm512_set1_epi16(-1);
  for (std::int64_t r = 0; r < rows; ++r) {
    for (std::int64_t i = 0; i < count; i += kLanes) {
      const __m512i some = _mm512_maskz_loadu_epi32(first_lanes(count - i), words + r * apart + i);
      least = _mm512_min_epu16(least, less_than_magnitude(some));
    }
  }
  std::uint16_t lanes[2 * kLanes];
  _mm512_storeu_si512(lanes, least);
  return (*std::min_element(lanes, lanes + 2 * kLanes) + 1) >> 7;
}

// sum + the products of both terms. The instruction takes subnormal numbers as 0; a product in fp32
// does not.
template <bool kInFp32>
[[gnu::target("avx512f,avx512bw,avx512bf16"), gnu::always_inline]] inline __m512 add_products(
    __m512 sum, __m512i a, __m512i b) {
  if constexpr (kInFp32) {
    const __m512i odd = _mm512_set1_epi32(static_cast<int>(0xFFFF0000));
    sum = _mm512_fmadd_ps(_mm512_castsi512_ps(_mm512_maskz_slli_epi32(kAll, a, 16)),
                          _mm512_castsi512_ps(_mm512_maskz_slli_epi32(kAll, b, 16)), sum);
    return _mm512_fmadd_ps(_mm512_castsi512_ps(_mm512_and_si512(a, odd)),
                           _mm512_castsi512_ps(_mm512_and_si512(b, odd)), sum);
  } else {
    return _mm512_dpbf16_ps(sum, (__m512bh)a, (__m512bh)b);
  }
}

/// Some rows and some terms of a product.
struct Part {
  const std::int64_t* row;
  std::int64_t rows, terms;
  bool adds;
};

// kRows rows of c with kVectors vectors each. Rows past the last repeat the last row, which is then
// written twice. Sums start with 0, so that a subnormal c is added as it is.
template <bool kInFp32, int kRows, int kVectors>
[[gnu::target("avx512f,avx512bw,avx512bf16")]] void panel(const Gemm& s, const Part& part,
                                                          const Word* a, const Word* b, float* c) {
  const Word* left[kRows];
  float* to[kRows];
  __m512 sums[kRows][kVectors];
#pragma GCC unroll 8
  for (int i = 0; i < kRows; ++i) {
    const std::int64_t row = part.row[std::min<std::int64_t>(i, part.rows - 1)];
    left[i] = a + row * s.lda;
    to[i] = c + row * s.ldc;
#pragma GCC unroll 3
    for (int v = 0; v < kVectors; ++v) sums[i][v] = _mm512_setzero_ps();
  }
  for (std::int64_t p = 0; p < part.terms; ++p) {
    __m512i right[kVectors];
#pragma GCC unroll 3
    for (int v = 0; v < kVectors; ++v) right[v] = _mm512_loadu_si512(b + p * s.ldb + v * kLanes);
#pragma GCC unroll 8
    for (int i = 0; i < kRows; ++i) {
      std::int32_t word;
      std::memcpy(&word, left[i] + p, sizeof word);
      const __m512i factor = _mm512_set1_epi32(word);
#pragma GCC unroll 3
      for (int v = 0; v < kVectors; ++v) {
        sums[i][v] = add_products<kInFp32>(sums[i][v], factor, right[v]);
      }
    }
  }
  if (part.adds) {
#pragma GCC unroll 8
    for (int i = 0; i < kRows; ++i) {
#pragma GCC unroll 3
      for (int v = 0; v < kVectors; ++v) {
        sums[i][v] = _mm512_add_ps(_mm512_loadu_ps(to[i] + v * kLanes), sums[i][v]);
      }
    }
  }
#pragma GCC unroll 8
  for (int i = 0; i < kRows; ++i) {
#pragma GCC unroll 3
    for (int v = 0; v < kVectors; ++v) _mm512_storeu_ps(to[i] + v * kLanes, sums[i][v]);
  }
}

// kVectors vectors of some rows. The part of b for so many terms stays in the first-level cache.
template <bool kInFp32, int kVectors>
void columns(const Gemm& s, Part part, const Word* a, const Word* b, float* c) {
  static const auto cache = static_cast<std::int64_t>(first_cache_bytes());
  const std::int64_t most = cache * 3 / 4 / (kVectors * kLanes * std::int64_t{sizeof(Word)});
  const std::int64_t* const end = part.row + part.rows;
  for (std::int64_t first = 0; first < s.k; first += most, part.adds = true) {
    Part some = part;
    some.terms = std::min(most, s.k - first);
    for (; end - some.row > 4; some.row += std::min<std::int64_t>(8, end - some.row)) {
      some.rows = end - some.row;
      panel<kInFp32, 8, kVectors>(s, some, a + first, b + first * s.ldb, c);
    }
    some.rows = end - some.row;
    if (some.rows > 0) panel<kInFp32, 4, kVectors>(s, some, a + first, b + first * s.ldb, c);
  }
}

// Panels of three vectors; a remainder of four is two pairs instead of three and one.
template <bool kInFp32>
void multiply(const Gemm& s, const Part& part, const Word* a, const Word* b, float* c) {
  for (std::int64_t column = 0; column < s.n;) {
    const std::int64_t left = (s.n - column) / kLanes;
    const std::int64_t vectors = left == 1 ? 1 : left == 2 || left == 4 ? 2 : 3;
    const auto some = vectors == 1   ? columns<kInFp32, 1>
                      : vectors == 2 ? columns<kInFp32, 2>
                                     : columns<kInFp32, 3>;
    some(s, part, a, b + column, c + column);
    column += vectors * kLanes;
  }
}

[[gnu::target("avx512f,avx512bw,avx512vl")]] void interleave(const std::uint16_t* even,
                                                             const std::uint16_t* odd,
                                                             std::int64_t columns, Word* to) {
  for (std::int64_t i = 0; i < columns; i += kLanes) {
    const __mmask16 mask = first_lanes(columns - i);
    const __m256i low = _mm256_maskz_loadu_epi16(mask, even + i);
    const __m256i high =
        odd == nullptr ? _mm256_setzero_si256() : _mm256_maskz_loadu_epi16(mask, odd + i);
    _mm512_storeu_si512(
        to + i, _mm512_or_si512(
                    _mm512_maskz_cvtepu16_epi32(kAll, low),
                    _mm512_maskz_slli_epi32(kAll, _mm512_maskz_cvtepu16_epi32(kAll, high), 16)));
  }
}

[[gnu::target("avx512f,avx512bw,avx512vl")]] void narrow_row(const float* from, std::int64_t count,
                                                             std::uint16_t* to) {
  for (std::int64_t i = 0; i < count; i += kLanes) {
    const __m512i bits =
        _mm512_castps_si512(_mm512_maskz_loadu_ps(first_lanes(count - i), from + i));
    _mm256_mask_storeu_epi16(
        to + i, first_lanes((count + 1) / 2 * 2 - i),
        _mm512_maskz_cvtepi32_epi16(kAll, _mm512_maskz_srli_epi32(kAll, bits, 16)));
  }
}

}  // namespace

bool has_pair_product() {
  static const bool is_supported = __builtin_cpu_supports("avx512bf16") != 0;
  return is_supported && current_isa() == "avx3";
}

void pair_product(const Gemm& s, const void* a, const void* b, float* c, bool accumulate) {
  const auto *const left = static_cast<const Word*>(a), *const right = static_cast<const Word*>(b);
  thread_local std::vector<std::int64_t> rows;
  rows.resize(static_cast<std::size_t>(s.m));
  const int of_right = least_exponent(right, s.k, s.n, s.ldb);
  std::int64_t normal = 0, small = s.m;  // rows from the front and from the back
  for (std::int64_t i = 0; i < s.m; ++i) {
    const int of_left = least_exponent(left + i * s.lda, 1, s.k, 0);
    const bool is_normal = std::min(of_left, of_right) > 0 && of_left + of_right >= kLeastExponents;
    rows.data()[is_normal ? normal++ : --small] = i;
  }
  multiply<false>(s, {rows.data(), normal, 0, accumulate}, left, right, c);
  multiply<true>(s, {rows.data() + normal, s.m - normal, 0, accumulate}, left, right, c);
}

void interleave_rows(const void* rows, std::int64_t count, std::int64_t columns, std::int64_t apart,
                     std::int64_t pitch, void* to) {
  const auto* const from = static_cast<const std::uint16_t*>(rows);
  for (std::int64_t r = 0; r < count; r += 2) {
    interleave(from + r * apart, r + 1 < count ? from + (r + 1) * apart : nullptr, columns,
               static_cast<Word*>(to) + r / 2 * pitch);
  }
}

void narrow_rows(const float* from, std::int64_t rows, std::int64_t count, std::int64_t apart,
                 std::int64_t pitch, void* to) {
  for (std::int64_t r = 0; r < rows; ++r) {
    narrow_row(from + r * apart, count, static_cast<std::uint16_t*>(to) + 2 * r * pitch);
  }
}

#else

bool has_pair_product() { return false; }
void pair_product(const Gemm&, const void*, const void*, float*, bool) {}
void interleave_rows(const void*, std::int64_t, std::int64_t, std::int64_t, std::int64_t, void*) {}
void narrow_rows(const float*, std::int64_t, std::int64_t, std::int64_t, std::int64_t, void*) {}

#endif

}  // namespace opbench
