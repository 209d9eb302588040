#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/simd/multiply_adds.cc"
#include "kernels/simd/multiply_adds.h"

#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <atomic>

#include "tensor/parallel.h"

HWY_BEFORE_NAMESPACE();
namespace opbench {
namespace HWY_NAMESPACE {
namespace {
namespace hn = hwy::HWY_NAMESPACE;

// Chain i counts from i in steps of 1, and every step is a product and a sum. The start values are
// opaque and differ: the compiler would compute equal chains only once.
template <class T>
double chains() {
  static_assert(kMultiplyAddChains == 12);
  const hn::ScalableTag<T> d;
  const volatile T one = 1;
  volatile T first = 0;
  const auto next = [&]() HWY_ATTR {
    first = first + one;
    return hn::Set(d, first);
  };
  const auto factor = hn::Set(d, one), term = hn::Set(d, one);
  auto a = next(), b = next(), c = next(), e = next(), f = next(), g = next();
  auto h = next(), i = next(), j = next(), k = next(), l = next(), m = next();
  for (int round = 0; round < kMultiplyAddRounds; ++round) {
    a = hn::MulAdd(a, factor, term);
    b = hn::MulAdd(b, factor, term);
    c = hn::MulAdd(c, factor, term);
    e = hn::MulAdd(e, factor, term);
    f = hn::MulAdd(f, factor, term);
    g = hn::MulAdd(g, factor, term);
    h = hn::MulAdd(h, factor, term);
    i = hn::MulAdd(i, factor, term);
    j = hn::MulAdd(j, factor, term);
    k = hn::MulAdd(k, factor, term);
    l = hn::MulAdd(l, factor, term);
    m = hn::MulAdd(m, factor, term);
  }
  return static_cast<double>(
      hn::GetLane(hn::Add(hn::Add(hn::Add(hn::Add(a, b), hn::Add(c, e)), hn::Add(f, g)),
                          hn::Add(hn::Add(hn::Add(h, i), hn::Add(j, k)), hn::Add(l, m)))));
}

}  // namespace

double operations_on_target(bool in_fp64) {
  const std::size_t lanes =
      in_fp64 ? hn::Lanes(hn::ScalableTag<double>()) : hn::Lanes(hn::ScalableTag<float>());
  return 2.0 * kMultiplyAddChains * kMultiplyAddRounds * static_cast<double>(lanes);
}

double chains_on_target(bool in_fp64) { return in_fp64 ? chains<double>() : chains<float>(); }

}  // namespace HWY_NAMESPACE
}  // namespace opbench
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace opbench {
namespace {

HWY_EXPORT(operations_on_target);
HWY_EXPORT(chains_on_target);

}  // namespace

double multiply_add_operations(bool in_fp64) {
  return HWY_DYNAMIC_DISPATCH(operations_on_target)(in_fp64);
}

double multiply_adds(bool in_fp64) {
  std::atomic<double> sum = 0;
  parallel_ranges(thread_count(), 1, [&](std::int64_t, std::int64_t) {
    sum.fetch_add(HWY_DYNAMIC_DISPATCH(chains_on_target)(in_fp64), std::memory_order_relaxed);
  });
  return sum;
}

}  // namespace opbench
#endif  // HWY_ONCE
