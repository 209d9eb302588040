// Packed factors of products of 8-bit integers.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/simd/integer_pack.cc"
#include <hwy/cache_control.h>
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <algorithm>
#include <cstddef>
#include <cstring>

#include "kernels/simd/integer_product.h"
#include "tensor/processor.h"

HWY_BEFORE_NAMESPACE();
namespace opbench {
namespace HWY_NAMESPACE {
namespace {
namespace hn = hwy::HWY_NAMESPACE;

#if HWY_TARGET == HWY_SCALAR
std::int64_t terms_of(IntegerForm form) { return form == IntegerForm::bytes ? 4 : 2; }

std::uint32_t group_at(IntegerForm form, const std::int8_t* terms) {
  if (form == IntegerForm::bytes) {
    std::uint32_t group = 0;
    std::memcpy(&group, terms, sizeof group);
    return group ^ 0x80808080;
  }
  return std::uint32_t(std::uint16_t(terms[0])) | std::uint32_t(std::uint16_t(terms[1])) << 16;
}

void pack_pairs(const std::int8_t* const rows[4], std::byte* to) {
  auto* const numbers = reinterpret_cast<std::int16_t*>(to);
  for (std::int64_t i = 0; i < 2 * kIntegerStrip; ++i) numbers[i] = rows[i % 2][i / 2];
}

void pack_bytes(const std::int8_t* const rows[4], std::byte* to) {
  for (std::int64_t i = 0; i < 4 * kIntegerStrip; ++i) to[i] = std::byte(rows[i % 4][i / 4] ^ -128);
}

void pack_square(IntegerForm form, const std::int8_t* from, std::int64_t next, std::byte* to) {
  for (std::int64_t c = 0; c < 4; ++c) {
    for (std::int64_t g = 0; g < 4; ++g) {
      const std::uint32_t group = group_at(form, from + c * next + g * terms_of(form));
      std::memcpy(to + (g * kIntegerStrip + c) * 4, &group, sizeof group);
    }
  }
}
#else
using I8 = hn::FixedTag<std::int8_t, kIntegerStrip>;

HWY_INLINE void store(hn::Vec<I8> v, std::byte* to) {
  hn::StoreU(v, I8(), reinterpret_cast<std::int8_t*>(to));
}

// A group of terms of a whole strip: rows of the second factor are interleaved.
HWY_INLINE void pack_pairs(const std::int8_t* const rows[4], std::byte* to) {
  const auto a = hn::LoadU(I8(), rows[0]), b = hn::LoadU(I8(), rows[1]);
  const hn::FixedTag<std::int16_t, 8> wide;
  const hn::Half<I8> half;
  const auto low = hn::InterleaveLower(I8(), a, b), high = hn::InterleaveUpper(I8(), a, b);
  auto* const numbers = reinterpret_cast<std::int16_t*>(to);
  hn::StoreU(hn::PromoteTo(wide, hn::LowerHalf(half, low)), wide, numbers);
  hn::StoreU(hn::PromoteTo(wide, hn::UpperHalf(half, low)), wide, numbers + 8);
  hn::StoreU(hn::PromoteTo(wide, hn::LowerHalf(half, high)), wide, numbers + 16);
  hn::StoreU(hn::PromoteTo(wide, hn::UpperHalf(half, high)), wide, numbers + 24);
}

HWY_INLINE void pack_bytes(const std::int8_t* const rows[4], std::byte* to) {
  const hn::FixedTag<std::int16_t, 8> wide;
  const auto flip = hn::Set(I8(), std::int8_t{-128});
  const auto a = hn::LoadU(I8(), rows[0]), b = hn::LoadU(I8(), rows[1]),
             c = hn::LoadU(I8(), rows[2]), d = hn::LoadU(I8(), rows[3]);
  const auto ab = hn::BitCast(wide, hn::InterleaveLower(I8(), a, b)),
             cd = hn::BitCast(wide, hn::InterleaveLower(I8(), c, d)),
             ab2 = hn::BitCast(wide, hn::InterleaveUpper(I8(), a, b)),
             cd2 = hn::BitCast(wide, hn::InterleaveUpper(I8(), c, d));
  const auto put = [&](auto v, int place)
                       HWY_ATTR { store(hn::Xor(hn::BitCast(I8(), v), flip), to + place * 16); };
  put(hn::InterleaveLower(wide, ab, cd), 0);
  put(hn::InterleaveUpper(wide, ab, cd), 1);
  put(hn::InterleaveLower(wide, ab2, cd2), 2);
  put(hn::InterleaveUpper(wide, ab2, cd2), 3);
}

#if HWY_TARGET == HWY_AVX2 || HWY_TARGET == HWY_AVX3
// Two strips of a group, which are `apart` bytes apart. Interleaving is by halves of a vector.
HWY_INLINE void pack_two_strips(const std::int8_t* const rows[4], std::int64_t apart,
                                std::byte* to) {
  const hn::FixedTag<std::int8_t, 32> d8;
  const hn::FixedTag<std::int16_t, 16> d;
  const auto row = [&](int r) HWY_ATTR {
    return hn::Xor(hn::LoadU(d8, rows[r]), hn::Set(d8, std::int8_t{-128}));
  };
  const auto a = row(0), b = row(1), c = row(2), e = row(3);
  const auto ab = hn::BitCast(d, hn::InterleaveLower(d8, a, b)),
             ce = hn::BitCast(d, hn::InterleaveLower(d8, c, e)),
             ab2 = hn::BitCast(d, hn::InterleaveUpper(d8, a, b)),
             ce2 = hn::BitCast(d, hn::InterleaveUpper(d8, c, e));
  const auto v0 = hn::InterleaveLower(d, ab, ce), v1 = hn::InterleaveUpper(d, ab, ce),
             v2 = hn::InterleaveLower(d, ab2, ce2), v3 = hn::InterleaveUpper(d, ab2, ce2);
  const auto put = [&](auto v, std::int64_t place)
                       HWY_ATTR { hn::StoreU(v, d, reinterpret_cast<std::int16_t*>(to + place)); };
  put(hn::ConcatLowerLower(d, v1, v0), 0);
  put(hn::ConcatLowerLower(d, v3, v2), 32);
  put(hn::ConcatUpperUpper(d, v1, v0), apart);
  put(hn::ConcatUpperUpper(d, v3, v2), apart + 32);
}
#endif

// Four groups of a column.
template <bool kBytes>
HWY_INLINE auto groups_of(const std::int8_t* from) {
  const hn::FixedTag<std::int32_t, 4> d;
  if constexpr (kBytes) {
    return hn::BitCast(d, hn::Xor(hn::LoadU(I8(), from), hn::Set(I8(), std::int8_t{-128})));
  } else {
    const hn::FixedTag<std::int16_t, 8> wide;
    return hn::BitCast(d, hn::PromoteTo(wide, hn::LoadU(hn::Half<I8>(), from)));
  }
}

// Four groups of four columns, transposed.
template <bool kBytes>
HWY_INLINE void turn_square(const std::int8_t* from, std::int64_t next, std::byte* to) {
  const hn::FixedTag<std::int32_t, 4> d;
  const hn::FixedTag<std::int64_t, 2> d64;
  const auto a = groups_of<kBytes>(from), b = groups_of<kBytes>(from + next),
             c = groups_of<kBytes>(from + 2 * next), e = groups_of<kBytes>(from + 3 * next);
  const auto low = hn::BitCast(d64, hn::InterleaveLower(d, a, b)),
             low2 = hn::BitCast(d64, hn::InterleaveLower(d, c, e)),
             high = hn::BitCast(d64, hn::InterleaveUpper(d, a, b)),
             high2 = hn::BitCast(d64, hn::InterleaveUpper(d, c, e));
  const auto put = [&](auto v, int g)
                       HWY_ATTR { store(hn::BitCast(I8(), v), to + g * kIntegerStrip * 4); };
  put(hn::InterleaveLower(d64, low, low2), 0);
  put(hn::InterleaveUpper(d64, low, low2), 1);
  put(hn::InterleaveLower(d64, high, high2), 2);
  put(hn::InterleaveUpper(d64, high, high2), 3);
}

HWY_INLINE void pack_square(IntegerForm form, const std::int8_t* from, std::int64_t next,
                            std::byte* to) {
  if (form == IntegerForm::bytes) return turn_square<true>(from, next, to);
  turn_square<false>(from, next, to);
}
#endif

}  // namespace

// The first multiples of 4 groups of a strip whose columns have adjacent terms. A part of each
// column is read at a time.
void pack_turned(const IntegerLayout& layout, const std::int8_t* from, std::int64_t next,
                 std::byte* strip) {
  for (std::int64_t first = 0; first < layout.whole_squares(); first += 16) {
    const std::int64_t last = std::min(layout.whole_squares(), first + 16);
    for (std::int64_t c = 0; c < kIntegerStrip; c += 4) {
      for (std::int64_t g = first; g < last; g += 4) {
        pack_square(layout.form, from + c * next + g * layout.terms(), next,
                    strip + (g * kIntegerStrip + c) * 4);
      }
    }
  }
}

// Whole strips of whole groups, whose columns are adjacent.
void pack_strips(const IntegerLayout& layout, const std::int8_t* from, std::int64_t step,
                 std::int64_t strips, std::byte* to) {
  // Rows of a large factor are in a page each, so that the processor detects no stream.
  constexpr std::int64_t kAhead = 16;
  static const auto cache = static_cast<std::int64_t>(own_cache_bytes());
  const bool is_far = layout.k * step > cache;
  const std::int64_t terms = layout.terms();
  for (std::int64_t g = 0; g < layout.k / terms; ++g) {
    const std::int8_t* rows[4];
    for (std::int64_t t = 0; t < 4; ++t)
      rows[t] = from + (g * terms + std::min(t, terms - 1)) * step;
    for (std::int64_t t = 0; is_far && t < terms; ++t) {
      hwy::Prefetch(rows[t] + kAhead * step);
      hwy::Prefetch(rows[t] + kAhead * step + 64);
    }
    std::int64_t s = 0;
    std::byte* const group = to + g * kIntegerStrip * 4;
    const auto advance = [&](std::int64_t by) {
      for (auto& row : rows) row += by * kIntegerStrip;
      s += by;
    };
#if HWY_TARGET == HWY_AVX2 || HWY_TARGET == HWY_AVX3
    while (layout.form == IntegerForm::bytes && s + 2 <= strips) {
      pack_two_strips(rows, layout.strip_bytes(), group + s * layout.strip_bytes());
      advance(2);
    }
#endif
    while (s < strips) {
      std::byte* const at = group + s * layout.strip_bytes();
      layout.form == IntegerForm::bytes ? pack_bytes(rows, at) : pack_pairs(rows, at);
      advance(1);
    }
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace opbench
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace opbench {
namespace {

HWY_EXPORT(pack_strips);
HWY_EXPORT(pack_turned);

// One element of a packed factor. The second factor's bytes have no sign.
void put(const IntegerLayout& layout, std::int8_t value, bool is_second, std::int64_t term,
         std::byte* group) {
  if (layout.form == IntegerForm::pairs) {
    const std::int16_t wide = value;
    std::memcpy(group + term * 2, &wide, sizeof wide);
  } else {
    group[term] = std::byte(is_second ? value ^ -128 : value);
  }
}

}  // namespace

std::int32_t pack_integer_row(const IntegerLayout& layout, const std::int8_t* from,
                              std::int64_t step, void* to) {
  auto* const row = static_cast<std::byte*>(to);
  std::uint32_t sum = 0;
  if (layout.k > 0) std::memset(row + (layout.groups() - 1) * 4, 0, 4);
  if (step != 1) {
    for (std::int64_t i = 0; i < layout.k; ++i) {
      sum += static_cast<std::uint32_t>(from[i * step]);
      put(layout, from[i * step], false, i % layout.terms(), row + i / layout.terms() * 4);
    }
    return static_cast<std::int32_t>(sum);
  }
  for (std::int64_t i = 0; i < layout.k; ++i) sum += static_cast<std::uint32_t>(from[i]);
  if (layout.form == IntegerForm::bytes) {
    std::copy_n(from, layout.k, static_cast<std::int8_t*>(to));
  } else {
    std::copy_n(from, layout.k, static_cast<std::int16_t*>(to));
  }
  return static_cast<std::int32_t>(sum);
}

void pack_integer_panel(const IntegerLayout& layout, const std::int8_t* from, std::int64_t step,
                        std::int64_t next, std::int64_t columns, void* to) {
  auto* const panel = static_cast<std::byte*>(to);
  const std::int64_t terms = layout.terms(), strips = columns / kIntegerStrip;
  const std::int64_t whole = next == 1 ? layout.k / terms * terms : layout.whole_squares() * terms;
  if (next == 1) HWY_DYNAMIC_DISPATCH(pack_strips)(layout, from, step, strips, panel);
  for (std::int64_t s = 0; next != 1 && s < strips; ++s) {
    HWY_DYNAMIC_DISPATCH(pack_turned)
    (layout, from + s * kIntegerStrip * next, next, panel + s * layout.strip_bytes());
  }
  for (std::int64_t c = 0; c < columns; ++c) {
    std::byte* const strip =
        panel + c / kIntegerStrip * layout.strip_bytes() + c % kIntegerStrip * 4;
    for (std::int64_t i = c < strips * kIntegerStrip ? whole : 0; i < layout.groups() * terms;
         ++i) {
      put(layout, i < layout.k ? from[i * step + c * next] : std::int8_t{0}, true, i % terms,
          strip + i / terms * kIntegerStrip * 4);
    }
  }
}

}  // namespace opbench
#endif  // HWY_ONCE
