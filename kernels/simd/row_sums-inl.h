// Sums of rows in 64 fp32 lanes (kernels/simd/row_sums.h). Included once per target.
// clang-format off
#if defined(OPBENCH_KERNELS_ROW_SUMS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef OPBENCH_KERNELS_ROW_SUMS_INL_H_
#undef OPBENCH_KERNELS_ROW_SUMS_INL_H_
#else
#define OPBENCH_KERNELS_ROW_SUMS_INL_H_
#endif
// clang-format on

#include <hwy/highway.h>

#include <algorithm>
#include <cstdint>

#include "kernels/simd/row_sums.h"
#include "kernels/simd/simd-inl.h"

HWY_BEFORE_NAMESPACE();
namespace opbench {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// A vector with at most 16 lanes, so that four vectors are at most the lanes of a sum.
using SumVector = hn::CappedTag<float, 16>;

// The first `count` lanes of memory; the other lanes are `padding`.
template <class D, class T>
HWY_INLINE hn::Vec<D> load_first(D d, const T* from, std::size_t count, float padding) {
  HWY_ALIGN T part[hn::MaxLanes(d)];
  std::fill_n(part, hn::Lanes(d), static_cast<T>(padding));
  std::copy_n(from, count, part);
  return load_as(d, part);
}

// Terms of the sums: functions of vectors.
struct Itself {
  template <class D>
  HWY_INLINE hn::Vec<D> operator()(D, hn::Vec<D> x) const {
    return x;
  }
};
struct Times {
  float scale;
  template <class D>
  HWY_INLINE hn::Vec<D> operator()(D d, hn::Vec<D> x) const {
    return hn::Mul(x, hn::Set(d, scale));
  }
};
struct Product {
  template <class D>
  HWY_INLINE hn::Vec<D> operator()(D, hn::Vec<D> a, hn::Vec<D> b) const {
    return hn::Mul(a, b);
  }
};

// Sums in fp64: 32 lanes, so that four of the widest vectors also hold them.
using DoubleVector = hn::CappedTag<double, 8>;
inline constexpr std::size_t kDoubleLanes = 32;

// Elements as lanes of the sum's type: `count` elements, or a whole vector.
template <class T>
HWY_INLINE hn::Vec<SumVector> load_lanes(SumVector d, const T* from) {
  return load_as(d, from);
}
template <class T>
HWY_INLINE hn::Vec<SumVector> load_some_lanes(SumVector d, const T* from, std::size_t count) {
#if HWY_TARGET <= HWY_AVX2  // masked lanes are not accessed
  if constexpr (sizeof(T) == 4) return hn::MaskedLoad(hn::FirstN(d, count), d, from);
#endif
  return load_first(d, from, count, 0);
}
template <class T>
HWY_INLINE hn::Vec<DoubleVector> load_lanes(DoubleVector d, const T* from) {
  return hn::PromoteTo(d, load_as(hn::Rebind<float, DoubleVector>(), from));
}
template <class T>
HWY_INLINE hn::Vec<DoubleVector> load_some_lanes(DoubleVector d, const T* from, std::size_t count) {
  const hn::Rebind<float, DoubleVector> narrow;
#if HWY_TARGET <= HWY_AVX2
  if constexpr (sizeof(T) == 4) {
    return hn::PromoteTo(d, hn::MaskedLoad(hn::FirstN(narrow, count), narrow, from));
  }
#endif
  return hn::PromoteTo(d, load_first(narrow, from, count, 0));
}

// sums[k] += terms of vector k, k + kVectors, ... of `count` elements, a multiple of the lanes.
template <std::size_t kVectors, class D, class Term, class... Inputs>
HWY_INLINE void add_whole(D d, const Term& term, std::int64_t count, hn::Vec<D> (&sums)[kVectors],
                          const Inputs*... x) {
  constexpr auto n = static_cast<std::int64_t>(hn::MaxLanes(D()));
  for (std::int64_t i = 0; i < count; i += static_cast<std::int64_t>(kVectors) * n) {
#pragma GCC unroll 16
    for (std::size_t k = 0; k < kVectors; ++k) {
      const std::int64_t from = i + static_cast<std::int64_t>(k) * n;
      sums[k] = hn::Add(sums[k], term(d, load_lanes(d, x + from)...));
    }
  }
}

// lanes[i % 64] += term of element i.
template <class Term, class... Inputs>
HWY_INLINE void add_to_lanes(const Term& term, std::int64_t count, float* lanes,
                             const Inputs*... x) {
  const SumVector d;
  constexpr std::size_t kWidth = hn::MaxLanes(SumVector()), kVectors = kSumLanes / kWidth;
  constexpr auto n = static_cast<std::int64_t>(kWidth);
  constexpr auto kAll = static_cast<std::int64_t>(kSumLanes);
  const std::int64_t whole = count / kAll * kAll;
  if (whole > 0) {
    hn::Vec<SumVector> sums[kVectors];
#pragma GCC unroll 16
    for (std::size_t k = 0; k < kVectors; ++k) sums[k] = hn::LoadU(d, lanes + k * kWidth);
    add_whole(d, term, whole, sums, x...);
#pragma GCC unroll 16
    for (std::size_t k = 0; k < kVectors; ++k) hn::StoreU(sums[k], d, lanes + k * kWidth);
  }
  std::int64_t i = whole;
  for (; i + n <= count; i += n, lanes += n) {
    hn::StoreU(hn::Add(hn::LoadU(d, lanes), term(d, load_as(d, x + i)...)), d, lanes);
  }
  if (i == count) return;
  const auto rest = static_cast<std::size_t>(count - i);
  const auto last = term(d, load_first(d, x + i, rest, 0)...);
  HWY_ALIGN float terms[hn::MaxLanes(d)];
  hn::Store(last, d, terms);
  for (std::size_t k = 0; k < rest; ++k) lanes[k] += terms[k];
}

// Adds the upper half of a vector to the lower half until one lane is left.
template <class D>
HWY_INLINE hn::TFromD<D> sum_of_halves([[maybe_unused]] D d, hn::Vec<D> v) {
#if HWY_TARGET != HWY_SCALAR
  if constexpr (hn::MaxLanes(D()) * sizeof(hn::TFromD<D>) > 16) {
    const hn::Half<D> half_of;
    return sum_of_halves(half_of, hn::Add(hn::LowerHalf(half_of, v), hn::UpperHalf(half_of, v)));
  } else if constexpr (hn::MaxLanes(D()) == 4) {
    v = hn::Add(v, hn::Shuffle1032(v));
    return hn::GetLane(hn::Add(v, hn::Shuffle2301(v)));
  } else if constexpr (hn::MaxLanes(D()) == 2) {
    return hn::GetLane(hn::Add(v, hn::Shuffle01(v)));
  }
#endif
  return hn::GetLane(v);
}

template <std::size_t kVectors, class D>
HWY_INLINE hn::TFromD<D> sum_of_vectors(D d, hn::Vec<D> (&sums)[kVectors]) {
#pragma GCC unroll 4
  for (std::size_t half_of = kVectors / 2; half_of > 0; half_of /= 2) {
#pragma GCC unroll 8
    for (std::size_t k = 0; k < half_of; ++k) sums[k] = hn::Add(sums[k], sums[k + half_of]);
  }
  return sum_of_halves(d, sums[0]);
}

HWY_INLINE float sum_of_lanes(const float* lanes) {
  const SumVector d;
  constexpr std::size_t kWidth = hn::MaxLanes(SumVector());
  hn::Vec<SumVector> sums[kSumLanes / kWidth];
#pragma GCC unroll 16
  for (std::size_t k = 0; k < kSumLanes / kWidth; ++k) sums[k] = hn::LoadU(d, lanes + k * kWidth);
  return sum_of_vectors(d, sums);
}

// The lanes of a sum stay in registers: 4 vectors of AVX-512, 8 of AVX2.
template <std::size_t kLanes, class D, class Term, class... Inputs>
HWY_INLINE hn::TFromD<D> lane_sum_as(D d, const Term& term, std::int64_t count,
                                     const Inputs*... x) {
  constexpr std::size_t kVectors = kLanes / hn::MaxLanes(D());
  constexpr auto n = static_cast<std::int64_t>(hn::MaxLanes(D()));
  hn::Vec<D> sums[kVectors];
#pragma GCC unroll 16
  for (auto& sum : sums) sum = hn::Zero(d);
  constexpr auto kAll = static_cast<std::int64_t>(kLanes);
  const std::int64_t i = count / kAll * kAll;
  add_whole(d, term, i, sums, x...);
  if (i < count) {  // the remainder begins at the first lane again
    const auto whole = static_cast<std::size_t>((count - i) / n);
    const auto rest = static_cast<std::size_t>((count - i) % n);
    auto last = hn::Zero(d);  // lanes without an element have terms of 0
    if (rest > 0) {
      const auto in = hn::FirstN(d, rest);
      last = hn::IfThenElseZero(
          in, term(d, load_some_lanes(d, x + (count - static_cast<std::int64_t>(rest)), rest)...));
    }
#pragma GCC unroll 16
    for (std::size_t k = 0; k < kVectors; ++k) {
      const std::int64_t from = i + static_cast<std::int64_t>(k) * n;
      if (k < whole) sums[k] = hn::Add(sums[k], term(d, load_lanes(d, x + from)...));
      if (k == whole) sums[k] = hn::Add(sums[k], last);
    }
  }
  return sum_of_vectors(d, sums);
}

template <class Term, class... Inputs>
HWY_INLINE float lane_sum(const Term& term, std::int64_t count, const Inputs*... x) {
  return lane_sum_as<kSumLanes>(SumVector(), term, count, x...);
}
template <class T>
HWY_INLINE double double_sum(std::int64_t count, const T* x) {
  return lane_sum_as<kDoubleLanes>(DoubleVector(), Itself(), count, x);
}

}  // namespace HWY_NAMESPACE
}  // namespace opbench
HWY_AFTER_NAMESPACE();

#endif
