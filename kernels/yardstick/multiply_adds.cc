#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/yardstick/multiply_adds.cc"
#include "kernels/yardstick/multiply_adds.h"

#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "tensor/parallel.h"

HWY_BEFORE_NAMESPACE();
namespace opbench {
namespace HWY_NAMESPACE {
namespace {
namespace hn = hwy::HWY_NAMESPACE;

// Two units with a latency of 4 to 5 cycles want 8 to 10 at once; 16 registers hold 12 and the
// factors.
constexpr int kChains = 12;
constexpr int kRounds = 2000;

template <class T>
void chains() {
  const hn::ScalableTag<T> d;
  // Opaque, or the compiler would compute the whole of it. Sums tend to 2, far from subnormals.
  const volatile T half = T(0.5), one = 1;
  const auto factor = hn::Set(d, half), term = hn::Set(d, one);
  auto a = term, b = term, c = term, e = term, f = term, g = term;
  auto h = term, i = term, j = term, k = term, l = term, m = term;
  for (int round = 0; round < kRounds; ++round) {
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
  const auto sum = hn::Add(hn::Add(hn::Add(hn::Add(a, b), hn::Add(c, e)), hn::Add(f, g)),
                           hn::Add(hn::Add(hn::Add(h, i), hn::Add(j, k)), hn::Add(l, m)));
  [[maybe_unused]] volatile T kept = hn::GetLane(sum);
}

}  // namespace

double operations_on_target(bool in_fp64) {
  const std::size_t lanes =
      in_fp64 ? hn::Lanes(hn::ScalableTag<double>()) : hn::Lanes(hn::ScalableTag<float>());
  return 2.0 * kChains * kRounds * static_cast<double>(lanes);
}

void chains_on_target(bool in_fp64) {
  if (in_fp64) return chains<double>();
  chains<float>();
}

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

void multiply_adds(bool in_fp64) {
  parallel_ranges(thread_count(), 1, [&](std::int64_t, std::int64_t) {
    HWY_DYNAMIC_DISPATCH(chains_on_target)(in_fp64);
  });
}

}  // namespace opbench
#endif  // HWY_ONCE
