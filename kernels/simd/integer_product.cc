// Products of 8-bit integers that are widened to 16 bits: two products are added at a time.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/simd/integer_product.cc"
#include "kernels/simd/integer_product.h"

#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace opbench {
namespace HWY_NAMESPACE {
namespace {
namespace hn = hwy::HWY_NAMESPACE;

using I16 = hn::CappedTag<std::int16_t, kIntegerGrain>;
using I32 = hn::RepartitionToWide<I16>;
using VI32 = hn::Vec<I32>;

HWY_INLINE void add_products(hn::Vec<I16> a, hn::Vec<I16> b, VI32& low, VI32& high) {
  low = hn::ReorderWidenMulAccumulate(I32(), a, b, low, high);
}

// A tile of kRows x kColumns sums: each loaded vector is used several times.
template <int kRows, int kColumns>
HWY_INLINE void tile(std::int64_t pitch, const std::int16_t* left, const std::int16_t* right,
                     std::int32_t* c, std::int64_t apart) {
  const I16 d;
  VI32 low[kRows][kColumns], high[kRows][kColumns];
  for (int i = 0; i < kRows; ++i) {
    for (int j = 0; j < kColumns; ++j) low[i][j] = high[i][j] = hn::Zero(I32());
  }
  for (std::int64_t k = 0; k < pitch; k += std::int64_t(hn::Lanes(d))) {
    hn::Vec<I16> b[kColumns];
    for (int j = 0; j < kColumns; ++j) b[j] = hn::LoadU(d, right + j * pitch + k);
    for (int i = 0; i < kRows; ++i) {
      const auto a = hn::LoadU(d, left + i * pitch + k);
      for (int j = 0; j < kColumns; ++j) add_products(a, b[j], low[i][j], high[i][j]);
    }
  }
  for (int i = 0; i < kRows; ++i) {
    for (int j = 0; j < kColumns; ++j) {
      c[i * apart + j] = hn::GetLane(hn::SumOfLanes(I32(), hn::Add(low[i][j], high[i][j])));
    }
  }
}

}  // namespace

void product(std::int64_t rows, std::int64_t columns, std::int64_t pitch, const std::int16_t* left,
             const std::int16_t* right, std::int32_t* c, std::int64_t apart) {
  constexpr int kTile = 3;  // 9 pairs of sums and 4 factors stay in registers
  for (std::int64_t i = 0; i < rows; i += kTile) {
    for (std::int64_t j = 0; j < columns; j += kTile) {
      const std::int16_t *const a = left + i * pitch, *const b = right + j * pitch;
      std::int32_t* const to = c + i * apart + j;
      if (rows - i >= kTile && columns - j >= kTile) {
        tile<kTile, kTile>(pitch, a, b, to, apart);
        continue;
      }
      for (std::int64_t r = 0; r < kTile && i + r < rows; ++r) {
        for (std::int64_t s = 0; s < kTile && j + s < columns; ++s) {
          tile<1, 1>(pitch, a + r * pitch, b + s * pitch, to + r * apart + s, apart);
        }
      }
    }
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace opbench
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace opbench {

HWY_EXPORT(product);

void integer_product(std::int64_t rows, std::int64_t columns, std::int64_t pitch,
                     const std::int16_t* left, const std::int16_t* right, std::int32_t* c,
                     std::int64_t apart) {
  HWY_DYNAMIC_DISPATCH(product)(rows, columns, pitch, left, right, c, apart);
}

}  // namespace opbench
#endif  // HWY_ONCE
