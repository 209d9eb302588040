#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/simd/row_sums.cc"
#include "kernels/simd/row_sums.h"

#include <hwy/foreach_target.h>

#include <algorithm>
#include <limits>

#include "kernels/simd/row_sums-inl.h"
#include "tensor/half.h"

HWY_BEFORE_NAMESPACE();
namespace opbench {
namespace HWY_NAMESPACE {
namespace {

template <class T, class Term>
void sum_each(const SummedRows& of, const Term& term, float* sums) {
  const T* x = static_cast<const T*>(of.x);
  for (std::int64_t r = 0; r < of.rows; ++r) sums[r] = lane_sum(term, of.count, x + r * of.step);
}

// Four rows at a time: the sums are loaded and stored once for all four.
template <class T, class Term>
void add_each(const SummedRows& of, const Term& term, float* sums) {
  const SumVector d;
  const auto width = static_cast<std::int64_t>(hn::Lanes(d));
  const T* x = static_cast<const T*>(of.x);
  std::int64_t r = 0;
  const auto add_block = [&](auto rows) HWY_ATTR {
    const T* row = x + r * of.step;
    std::int64_t i = 0;
    for (; i + width <= of.count; i += width) {
      auto sum = hn::LoadU(d, sums + i);
      for (int k = 0; k < decltype(rows)::value; ++k) {
        sum = hn::Add(sum, term(d, load_as(d, row + k * of.step + i)));
      }
      hn::StoreU(sum, d, sums + i);
    }
    if (i == of.count) return;
    const auto rest = static_cast<std::size_t>(of.count - i);
    HWY_ALIGN float padded[hn::MaxLanes(d)] = {};
    std::copy_n(sums + i, rest, padded);
    auto sum = hn::Load(d, padded);
    for (int k = 0; k < decltype(rows)::value; ++k) {
      sum = hn::Add(sum, term(d, load_first(d, row + k * of.step + i, rest, 0)));
    }
    hn::Store(sum, d, padded);
    std::copy_n(padded, rest, sums + i);
  };
  for (; r + 4 <= of.rows; r += 4) add_block(std::integral_constant<int, 4>());
  for (; r < of.rows; ++r) add_block(std::integral_constant<int, 1>());
}

// Minima and maxima of vectors may lose a NaN, so it is noticed separately. The last vector
// overlaps the one before.
template <bool kGreatest, class T>
float extreme_of(std::int64_t count, const T* x) {
  const SumVector d;
  constexpr auto n = static_cast<std::int64_t>(hn::MaxLanes(SumVector()));
  const auto better = [](auto a, auto b) HWY_ATTR {
    if constexpr (kGreatest) return hn::Max(a, b);
    return hn::Min(a, b);
  };
  const auto last = count < n ? load_first(d, x, static_cast<std::size_t>(count), float(x[0]))
                              : load_as(d, x + (count - n));
  hn::Vec<SumVector> best[] = {last, last, last, last};
  auto is_nan = hn::IsNaN(last);
  std::int64_t i = 0;
  for (; i + 4 * n <= count; i += 4 * n) {
#pragma GCC unroll 4
    for (std::int64_t k = 0; k < 4; ++k) {
      const auto v = load_as(d, x + i + k * n);
      best[k] = better(best[k], v);
      is_nan = hn::Or(is_nan, hn::IsNaN(v));
    }
  }
  for (; i + n <= count; i += n) {
    const auto v = load_as(d, x + i);
    best[0] = better(best[0], v);
    is_nan = hn::Or(is_nan, hn::IsNaN(v));
  }
  if (!hn::AllFalse(d, is_nan)) return std::numeric_limits<float>::quiet_NaN();
  const auto of_all = better(better(best[0], best[1]), better(best[2], best[3]));
  if constexpr (kGreatest) return hn::GetLane(hn::MaxOfLanes(d, of_all));
  return hn::GetLane(hn::MinOfLanes(d, of_all));
}

template <bool kGreatest, class T>
void extreme_of_each(const SummedRows& of, float* best) {
  const T* x = static_cast<const T*>(of.x);
  for (std::int64_t r = 0; r < of.rows; ++r) {
    best[r] = extreme_of<kGreatest>(of.count, x + r * of.step);
  }
}

// Calls body(null pointer of the type, term): most sums are of x and not of scale*x.
template <class Body>
void with_term(DType dtype, float scale, const Body& body) {
  visit_arithmetic(dtype, [&](auto tag) {
    if (scale == 1) return body(tag, Itself());
    body(tag, Times{scale});
  });
}

}  // namespace

void sum_rows_here(const SummedRows& of, float scale, float* sums) {
  with_term(of.dtype, scale, [&](auto tag, auto term) { sum_each<decltype(tag)>(of, term, sums); });
}

void extreme_rows_here(const SummedRows& of, bool greatest, float* best) {
  visit_arithmetic(of.dtype, [&](auto tag) {
    using T = decltype(tag);
    greatest ? extreme_of_each<true, T>(of, best) : extreme_of_each<false, T>(of, best);
  });
}

void add_rows_here(const SummedRows& of, float scale, float* sums) {
  with_term(of.dtype, scale, [&](auto tag, auto term) { add_each<decltype(tag)>(of, term, sums); });
}

void add_to_lanes_here(DType dtype, const void* x, std::int64_t count, float scale, float* lanes) {
  with_term(dtype, scale, [&](auto tag, auto term) {
    add_to_lanes(term, count, lanes, static_cast<const decltype(tag)*>(x));
  });
}

void double_sums_here(const SummedRows& of, double* sums) {
  visit_arithmetic(of.dtype, [&](auto tag) {
    const auto* x = static_cast<const decltype(tag)*>(of.x);
    for (std::int64_t r = 0; r < of.rows; ++r) sums[r] = double_sum(of.count, x + r * of.step);
  });
}

}  // namespace HWY_NAMESPACE
}  // namespace opbench
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace opbench {

HWY_EXPORT(sum_rows_here);
HWY_EXPORT(extreme_rows_here);
HWY_EXPORT(add_rows_here);
HWY_EXPORT(add_to_lanes_here);
HWY_EXPORT(double_sums_here);

void sum_rows(const SummedRows& of, float scale, float* sums) {
  HWY_DYNAMIC_DISPATCH(sum_rows_here)(of, scale, sums);
}
void extreme_rows(const SummedRows& of, bool greatest, float* best) {
  HWY_DYNAMIC_DISPATCH(extreme_rows_here)(of, greatest, best);
}
void add_rows(const SummedRows& of, float scale, float* sums) {
  HWY_DYNAMIC_DISPATCH(add_rows_here)(of, scale, sums);
}
void add_to_sum_lanes(DType dtype, const void* x, std::int64_t count, float scale, float* lanes) {
  HWY_DYNAMIC_DISPATCH(add_to_lanes_here)(dtype, x, count, scale, lanes);
}
void sum_rows_in_fp64(const SummedRows& of, double* sums) {
  HWY_DYNAMIC_DISPATCH(double_sums_here)(of, sums);
}

}  // namespace opbench
#endif  // HWY_ONCE
