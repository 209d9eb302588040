// Passes over lines of softmax in fp32 lanes. Included once per target.
// clang-format off
#if defined(OPBENCH_KERNELS_SOFTMAX_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef OPBENCH_KERNELS_SOFTMAX_INL_H_
#undef OPBENCH_KERNELS_SOFTMAX_INL_H_
#else
#define OPBENCH_KERNELS_SOFTMAX_INL_H_
#endif
// clang-format on

#include <hwy/highway.h>

#include <algorithm>
#include <cmath>

#include "kernels/simd/exp-inl.h"
#include "kernels/simd/map_line-inl.h"

HWY_BEFORE_NAMESPACE();
namespace opbench {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// A NaN may be lost here, but not in the sum.
struct Greatest {
  template <class D>
  HWY_INLINE hn::Vec<D> operator()(D, hn::Vec<D> greatest, hn::Vec<D> x) const {
    return hn::Max(greatest, x);
  }
};
struct ExpBeside {
  template <class D>
  HWY_INLINE hn::Vec<D> operator()(D d, hn::Vec<D> x, hn::Vec<D> greatest) const {
    return exp_of_negative(d, hn::Sub(x, greatest));
  }
};
struct ExpFrom {
  float greatest;
  template <class D>
  HWY_INLINE hn::Vec<D> operator()(D d, hn::Vec<D> x) const {
    return exp_of_negative(d, hn::Sub(x, hn::Set(d, greatest)));
  }
};
struct ExpQuotient {
  float greatest, sum, scale;
  template <class D>
  HWY_INLINE hn::Vec<D> operator()(D d, hn::Vec<D> x) const {
    return hn::Mul(hn::Div(ExpFrom{greatest}(d, x), hn::Set(d, sum)), hn::Set(d, scale));
  }
};
struct ExpProduct {
  float greatest, inverse, scale;
  template <class D>
  HWY_INLINE hn::Vec<D> operator()(D d, hn::Vec<D> x) const {
    return hn::Mul(hn::Mul(ExpFrom{greatest}(d, x), hn::Set(d, inverse)), hn::Set(d, scale));
  }
};
struct Quotient {
  float divisor;
  template <class D>
  HWY_INLINE hn::Vec<D> operator()(D d, hn::Vec<D> x) const {
    return hn::Div(x, hn::Set(d, divisor));
  }
};
struct QuotientBeside {
  template <class D>
  HWY_INLINE hn::Vec<D> operator()(D, hn::Vec<D> x, hn::Vec<D> divisor) const {
    return hn::Div(x, divisor);
  }
};
struct PlusProduct {
  template <class D>
  HWY_INLINE hn::Vec<D> operator()(D, hn::Vec<D> sum, hn::Vec<D> a, hn::Vec<D> b) const {
    return hn::Add(sum, hn::Mul(a, b));
  }
};
struct Less {
  float greatest, log;
  template <class D>
  HWY_INLINE hn::Vec<D> operator()(D d, hn::Vec<D> x) const {
    return hn::Sub(hn::Sub(x, hn::Set(d, greatest)), hn::Set(d, log));
  }
};
struct LessTimes {
  float sum;
  template <class D>
  HWY_INLINE hn::Vec<D> operator()(D d, hn::Vec<D> dy, hn::Vec<D> y) const {
    return hn::Mul(hn::Sub(dy, hn::Set(d, sum)), y);
  }
};
struct LessBesideTimes {
  template <class D>
  HWY_INLINE hn::Vec<D> operator()(D, hn::Vec<D> dy, hn::Vec<D> sum, hn::Vec<D> y) const {
    return hn::Mul(hn::Sub(dy, sum), y);
  }
};

struct LessBoth {
  template <class D>
  HWY_INLINE hn::Vec<D> operator()(D, hn::Vec<D> x, hn::Vec<D> greatest, hn::Vec<D> log) const {
    return hn::Sub(hn::Sub(x, greatest), log);
  }
};
struct PlusExpBeside {
  template <class D>
  HWY_INLINE hn::Vec<D> operator()(D d, hn::Vec<D> sum, hn::Vec<D> x, hn::Vec<D> greatest) const {
    return hn::Add(sum, ExpBeside()(d, x, greatest));
  }
};

// The logarithm of a share is at most 0. log_softmax never returns more, but the input may have
// more.
template <class D>
HWY_INLINE hn::Vec<D> share_of(D d, hn::Vec<D> logarithm) {
  const auto zero = hn::Zero(d);
  const auto is_none = hn::Gt(logarithm, zero);
  if (HWY_LIKELY(hn::AllFalse(d, is_none))) return exp_of_negative(d, logarithm);
  const auto share = exp_of_negative(d, hn::IfThenElse(is_none, hn::Neg(logarithm), logarithm));
  return hn::IfThenElse(is_none, hn::Div(hn::Set(d, 1.0f), share), share);
}

struct LessExpTimesBeside {
  template <class D>
  HWY_INLINE hn::Vec<D> operator()(D d, hn::Vec<D> dy, hn::Vec<D> y, hn::Vec<D> sum) const {
    return hn::Sub(dy, hn::Mul(share_of(d, y), sum));
  }
};
struct LessExpTimes {
  float sum;
  template <class D>
  HWY_INLINE hn::Vec<D> operator()(D d, hn::Vec<D> dy, hn::Vec<D> y) const {
    return LessExpTimesBeside()(d, dy, y, hn::Set(d, sum));
  }
};

template <class T>
HWY_INLINE float greatest_of(const T* x, std::int64_t count) {
  const SumVector d;
  const auto n = static_cast<std::int64_t>(hn::Lanes(d));
  auto m0 = hn::Set(d, -HUGE_VALF), m1 = m0, m2 = m0, m3 = m0;
  std::int64_t i = 0;
  for (; i + 4 * n <= count; i += 4 * n) {
    m0 = hn::Max(m0, load_as(d, x + i)), m1 = hn::Max(m1, load_as(d, x + i + n));
    m2 = hn::Max(m2, load_as(d, x + i + 2 * n)), m3 = hn::Max(m3, load_as(d, x + i + 3 * n));
  }
  for (; i + n <= count; i += n) m0 = hn::Max(m0, load_as(d, x + i));
  if (i < count) {
    const auto rest = static_cast<std::size_t>(count - i);
    m1 = hn::Max(m1, load_first(d, x + i, rest, -HUGE_VALF));
  }
  return hn::GetLane(hn::MaxOfLanes(d, hn::Max(hn::Max(m0, m1), hn::Max(m2, m3))));
}

// e = exp(x - greatest); returns the sum.
template <class T>
HWY_INLINE float exp_and_sum(const T* x, std::int64_t count, float greatest, float* e) {
  constexpr std::int64_t kBlock = 2048;  // elements; in the L1 cache during the addition
  HWY_ALIGN float lanes[kSumLanes] = {};
  for (std::int64_t i = 0; i < count; i += kBlock) {
    const std::int64_t part = std::min(kBlock, count - i);
    map_line(ExpFrom{greatest}, part, e + i, x + i);
    add_to_lanes(Itself(), part, lanes, e + i);
  }
  return sum_of_lanes(lanes);
}

}  // namespace HWY_NAMESPACE
}  // namespace opbench
HWY_AFTER_NAMESPACE();

#endif
