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

// lanes[k] += term of elements k, k + 64, ... of `count`, a multiple of 64. Four vectors stay in
// registers. If these are fewer than all lanes, the elements are read again for the next four.
template <class Term, class... Inputs>
HWY_INLINE void add_whole_to_lanes(const Term& term, std::int64_t count, float* lanes,
                                   const Inputs*... x) {
  const SumVector d;
  constexpr auto kAll = static_cast<std::int64_t>(kSumLanes);
  constexpr std::int64_t kBlock = 2048;  // elements that stay in the L1 cache between these passes
  const auto n = static_cast<std::int64_t>(hn::Lanes(d));
  for (std::int64_t first = 0; first < count; first += kBlock) {
    const std::int64_t last = std::min(first + kBlock, count);
    for (std::int64_t k = 0; k < kAll; k += 4 * n) {
      auto s0 = hn::LoadU(d, lanes + k), s1 = hn::LoadU(d, lanes + k + n),
           s2 = hn::LoadU(d, lanes + k + 2 * n), s3 = hn::LoadU(d, lanes + k + 3 * n);
      for (std::int64_t i = first + k; i < last; i += kAll) {
        s0 = hn::Add(s0, term(d, load_as(d, x + i)...));
        s1 = hn::Add(s1, term(d, load_as(d, x + i + n)...));
        s2 = hn::Add(s2, term(d, load_as(d, x + i + 2 * n)...));
        s3 = hn::Add(s3, term(d, load_as(d, x + i + 3 * n)...));
      }
      hn::StoreU(s0, d, lanes + k), hn::StoreU(s1, d, lanes + k + n);
      hn::StoreU(s2, d, lanes + k + 2 * n), hn::StoreU(s3, d, lanes + k + 3 * n);
    }
  }
}

// Like the function above, for any count.
template <class Term, class... Inputs>
HWY_INLINE void add_to_lanes(const Term& term, std::int64_t count, float* lanes,
                             const Inputs*... x) {
  const SumVector d;
  const auto n = static_cast<std::int64_t>(hn::Lanes(d));
  constexpr auto kAll = static_cast<std::int64_t>(kSumLanes);
  const std::int64_t whole = count / kAll * kAll;
  add_whole_to_lanes(term, whole, lanes, x...);
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
HWY_INLINE hn::TFromD<D> sum_of_halves(D d, hn::Vec<D> v) {
#if HWY_TARGET != HWY_SCALAR && !HWY_HAVE_SCALABLE
  if constexpr (hn::MaxLanes(D()) * sizeof(hn::TFromD<D>) > 16) {
    const hn::Half<D> half_of;
    return sum_of_halves(half_of, hn::Add(hn::LowerHalf(half_of, v), hn::UpperHalf(half_of, v)));
  }
#endif
  HWY_ALIGN hn::TFromD<D> sums[hn::MaxLanes(d)];
  hn::Store(v, d, sums);
  for (std::size_t half_of = hn::Lanes(d) / 2; half_of > 0; half_of /= 2) {
    for (std::size_t k = 0; k < half_of; ++k) sums[k] += sums[k + half_of];
  }
  return sums[0];
}

// Adds upper halves to lower halves until one lane is left.
HWY_INLINE float sum_of_lanes(const float* lanes) {
  const SumVector d;
  const std::size_t n = hn::Lanes(d);
  HWY_ALIGN float sums[kSumLanes / 2];
  for (std::size_t k = 0; k < kSumLanes / 2; k += n) {
    hn::Store(hn::Add(hn::LoadU(d, lanes + k), hn::LoadU(d, lanes + k + kSumLanes / 2)), d,
              sums + k);
  }
  for (std::size_t half_of = kSumLanes / 4; half_of >= n; half_of /= 2) {
    for (std::size_t k = 0; k < half_of; k += n) {
      hn::Store(hn::Add(hn::Load(d, sums + k), hn::LoadU(d, sums + k + half_of)), d, sums + k);
    }
  }
  return sum_of_halves(d, hn::Load(d, sums));
}

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
#if HWY_TARGET == HWY_AVX3  // masked lanes are not accessed
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
#if HWY_TARGET == HWY_AVX3
  if constexpr (sizeof(T) == 4) {
    return hn::PromoteTo(d, hn::MaskedLoad(hn::FirstN(narrow, count), narrow, from));
  }
#endif
  return hn::PromoteTo(d, load_first(narrow, from, count, 0));
}

#if HWY_TARGET == HWY_AVX3
// Four vectors are all lanes: short rows stay in registers.
template <class D, class Term, class... Inputs>
HWY_INLINE hn::TFromD<D> lane_sum_as(D d, const Term& term, std::int64_t count,
                                     const Inputs*... x) {
  constexpr auto n = static_cast<std::int64_t>(hn::MaxLanes(D()));
  auto s0 = hn::Zero(d), s1 = s0, s2 = s0, s3 = s0;
  std::int64_t i = 0;
  for (; i + 4 * n <= count; i += 4 * n) {
    s0 = hn::Add(s0, term(d, load_lanes(d, x + i)...));
    s1 = hn::Add(s1, term(d, load_lanes(d, x + i + n)...));
    s2 = hn::Add(s2, term(d, load_lanes(d, x + i + 2 * n)...));
    s3 = hn::Add(s3, term(d, load_lanes(d, x + i + 3 * n)...));
  }
  // The remainder begins at the first lane again; lanes without an element have terms of 0.
  const auto next = [&](std::int64_t from) HWY_ATTR {
    const std::int64_t left = count - from;
    if (left >= n) return term(d, load_lanes(d, x + from)...);
    if (left <= 0) return hn::Zero(d);
    const auto rest = static_cast<std::size_t>(left);
    return hn::IfThenElseZero(hn::FirstN(d, rest), term(d, load_some_lanes(d, x + from, rest)...));
  };
  if (i < count) {
    s0 = hn::Add(s0, next(i)), s1 = hn::Add(s1, next(i + n));
    s2 = hn::Add(s2, next(i + 2 * n)), s3 = hn::Add(s3, next(i + 3 * n));
  }
  return sum_of_halves(d, hn::Add(hn::Add(s0, s2), hn::Add(s1, s3)));
}

template <class Term, class... Inputs>
HWY_INLINE float lane_sum(const Term& term, std::int64_t count, const Inputs*... x) {
  return lane_sum_as(SumVector(), term, count, x...);
}
template <class T>
HWY_INLINE double double_sum(std::int64_t count, const T* x) {
  return lane_sum_as(DoubleVector(), Itself(), count, x);
}
#else
template <class Term, class... Inputs>
HWY_INLINE float lane_sum(const Term& term, std::int64_t count, const Inputs*... x) {
  HWY_ALIGN float lanes[kSumLanes] = {};
  add_to_lanes(term, count, lanes, x...);
  return sum_of_lanes(lanes);
}

template <class T>
HWY_INLINE double double_sum(std::int64_t count, const T* x) {
  const DoubleVector d;
  constexpr auto kAll = static_cast<std::int64_t>(kDoubleLanes);
  const auto n = static_cast<std::int64_t>(hn::Lanes(d));
  HWY_ALIGN double lanes[kAll] = {};
  const std::int64_t whole = count / kAll * kAll;
  constexpr std::int64_t kBlock = 2048;
  for (std::int64_t first = 0; first < whole; first += kBlock) {
    const std::int64_t last = std::min(first + kBlock, whole);
    for (std::int64_t k = 0; k < kAll; k += 4 * n) {
      auto s0 = hn::Load(d, lanes + k), s1 = hn::Load(d, lanes + k + n),
           s2 = hn::Load(d, lanes + k + 2 * n), s3 = hn::Load(d, lanes + k + 3 * n);
      for (std::int64_t i = first + k; i < last; i += kAll) {
        s0 = hn::Add(s0, load_lanes(d, x + i));
        s1 = hn::Add(s1, load_lanes(d, x + i + n));
        s2 = hn::Add(s2, load_lanes(d, x + i + 2 * n));
        s3 = hn::Add(s3, load_lanes(d, x + i + 3 * n));
      }
      hn::Store(s0, d, lanes + k), hn::Store(s1, d, lanes + k + n);
      hn::Store(s2, d, lanes + k + 2 * n), hn::Store(s3, d, lanes + k + 3 * n);
    }
  }
  for (std::int64_t i = whole; i < count; ++i) lanes[i - whole] += double(float(x[i]));
  for (std::size_t half_of = kDoubleLanes / 2; half_of > 0; half_of /= 2) {
    for (std::size_t k = 0; k < half_of; ++k) lanes[k] += lanes[k + half_of];
  }
  return lanes[0];
}
#endif

}  // namespace HWY_NAMESPACE
}  // namespace opbench
HWY_AFTER_NAMESPACE();

#endif
