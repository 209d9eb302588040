// Where a block is worst: looked at again only if it is worse than all before. Included once per
// target.
// clang-format off
#if defined(OPBENCH_COMPARE_WORST_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef OPBENCH_COMPARE_WORST_INL_H_
#undef OPBENCH_COMPARE_WORST_INL_H_
#else
#define OPBENCH_COMPARE_WORST_INL_H_
#endif
// clang-format on

#include <hwy/highway.h>

#include <cfloat>
#include <cmath>
#include <cstdint>

#include "judge/block-inl.h"
#include "judge/measure_vector.h"

HWY_BEFORE_NAMESPACE();
namespace opbench {
namespace HWY_NAMESPACE {

template <class T>
HWY_INLINE VF64 error_of(const T* actual, const T* expected) {
  return hn::Abs(hn::Sub(doubles(actual), doubles(expected)));
}

// The quotient as IEEE rounds it, which the sums do not need.
template <class T>
HWY_INLINE VF64 relative_error_of(double smallest, const T* actual, const T* expected) {
  const VF64 divisor = hn::Max(hn::Abs(doubles(expected)), number(smallest));
  return hn::Div(error_of(actual, expected), divisor);
}

// The first element where `term` has that value; it is there.
template <class T, class Term>
std::size_t find(double wanted, std::size_t count, const T* actual, const T* expected, Term term) {
  std::size_t found = count;
  for_each_vector(hn::Lanes(F64()), count, actual, expected,
                  [&](const T* a, const T* e, std::size_t i) HWY_ATTR {
                    if (found < count) return;
                    const auto at = hn::FindFirstTrue(F64(), hn::Eq(term(a, e), number(wanted)));
                    if (at >= 0) found = i + static_cast<std::size_t>(at);
                  });
  return found;
}

template <class T>
std::size_t found_error(double error, std::size_t count, const T* actual, const T* expected) {
  return find(error, count, actual, expected,
              [](const T* a, const T* e) HWY_ATTR { return error_of(a, e); });
}

template <class T>
std::size_t found_worst_rel(double smallest, std::size_t count, const T* actual, const T* expected,
                            double& error) {
  const auto term = [smallest](const T* a, const T* e)
                        HWY_ATTR { return relative_error_of(smallest, a, e); };
  VF64 max = hn::Zero(F64());
  for_each_vector(hn::Lanes(F64()), count, actual, expected,
                  [&](const T* a, const T* e, std::size_t)
                      HWY_ATTR { max = hn::Max(max, term(a, e)); });
  error = largest_lane(F64(), max);
  return find(error, count, actual, expected, term);
}

template <class T>
double min_tolerance_of(double scale, std::size_t count, const T* actual, const T* expected) {
  VF64 max = hn::Zero(F64());
  for_each_vector(hn::Lanes(F64()), count, actual, expected,
                  [&](const T* a, const T* e, std::size_t) HWY_ATTR {
                    const VF64 size = hn::Add(number(scale), hn::Abs(doubles(e)));
                    // Not 0, and 0 where nothing is off.
                    const VF64 divisor = hn::Max(size, number(DBL_MIN));
                    max = hn::Max(max, hn::Div(error_of(a, e), divisor));
                  });
  return largest_lane(F64(), max);
}

template <class T>
std::int64_t beyond_of(const Tolerance& tolerance, std::size_t count, const T* actual,
                       const T* expected, const std::uint32_t* distances) {
  const std::size_t lanes = hn::Lanes(F64());
  const hn::Rebind<std::uint32_t, F64> u32;
  const hn::Rebind<std::int32_t, F64> i32;
  const VF64 least = number(tolerance.limit), share = number(tolerance.limit_share);
  const VF64 limit_ulp = number(tolerance.limit_ulp), one = number(1);
  std::size_t beyond = 0;
  for_each_vector(
      lanes, count, actual, expected, [&](const T* a, const T* e, std::size_t i) HWY_ATTR {
        const VF64 error = error_of(a, e);
        VF64 ulp = error;
        if (distances != nullptr) {
          // Larger ones count as 2^31 - 1.
          const auto capped = hn::Min(hn::LoadU(u32, distances + i), hn::Set(u32, 0x7FFFFFFFu));
          ulp = hn::PromoteTo(F64(), hn::BitCast(i32, capped));
        }
        const VF64 size = hn::Min(hn::Abs(doubles(e)), one);
        const VF64 limit = hn::Max(least, hn::Mul(share, size));
        const auto is_beyond = hn::And(hn::Gt(error, limit), hn::Gt(ulp, limit_ulp));
        beyond += hn::CountTrue(F64(), is_beyond);
      });
  return static_cast<std::int64_t>(beyond);
}

std::size_t find_float_error(double error, std::size_t count, const float* actual,
                             const float* expected) {
  return found_error(error, count, actual, expected);
}

std::size_t find_double_error(double error, std::size_t count, const double* actual,
                              const double* expected) {
  return found_error(error, count, actual, expected);
}

std::size_t find_worst_float_rel(double smallest, std::size_t count, const float* actual,
                                 const float* expected, double& error) {
  return found_worst_rel(smallest, count, actual, expected, error);
}

std::size_t find_worst_double_rel(double smallest, std::size_t count, const double* actual,
                                  const double* expected, double& error) {
  return found_worst_rel(smallest, count, actual, expected, error);
}

double float_min_tolerance(double scale, std::size_t count, const float* actual,
                           const float* expected) {
  return min_tolerance_of(scale, count, actual, expected);
}

double double_min_tolerance(double scale, std::size_t count, const double* actual,
                            const double* expected) {
  return min_tolerance_of(scale, count, actual, expected);
}

std::int64_t floats_beyond(const Tolerance& tolerance, std::size_t count, const float* actual,
                           const float* expected, const std::uint32_t* distances) {
  return beyond_of(tolerance, count, actual, expected, distances);
}

std::int64_t doubles_beyond(const Tolerance& tolerance, std::size_t count, const double* actual,
                            const double* expected, const std::uint32_t* distances) {
  return beyond_of(tolerance, count, actual, expected, distances);
}

}  // namespace HWY_NAMESPACE
}  // namespace opbench
HWY_AFTER_NAMESPACE();

#endif
