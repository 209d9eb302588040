#include "judge/measure_vector.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "judge/measure_vector.cc"
#include <hwy/foreach_target.h>
// Must come after foreach_target.h.
#include "judge/ranges-inl.h"
#include "judge/sums-inl.h"
#include "judge/worst-inl.h"

#if HWY_ONCE

namespace opbench {

HWY_EXPORT(float_sums);
HWY_EXPORT(double_sums);
HWY_EXPORT(float_range);
HWY_EXPORT(double_range);
HWY_EXPORT(relative_errors);
HWY_EXPORT(ulp_distances);
HWY_EXPORT(floats_beyond);
HWY_EXPORT(doubles_beyond);
HWY_EXPORT(float_min_tolerance);
HWY_EXPORT(double_min_tolerance);
HWY_EXPORT(spread_of);
HWY_EXPORT(find_float_error);
HWY_EXPORT(find_double_error);
HWY_EXPORT(find_worst_float_rel);
HWY_EXPORT(find_worst_double_rel);
HWY_EXPORT(kl_sums);

BlockSums block_sums(const PairRules& rules, std::size_t count, const float* actual,
                     const float* expected) {
  return HWY_DYNAMIC_DISPATCH(float_sums)(rules, count, actual, expected);
}

BlockSums block_sums(const PairRules& rules, std::size_t count, const double* actual,
                     const double* expected) {
  return HWY_DYNAMIC_DISPATCH(double_sums)(rules, count, actual, expected);
}

BlockRange block_range(std::size_t count, const float* actual, const float* expected) {
  return HWY_DYNAMIC_DISPATCH(float_range)(count, actual, expected);
}

BlockRange block_range(std::size_t count, const double* actual, const double* expected) {
  return HWY_DYNAMIC_DISPATCH(double_range)(count, actual, expected);
}

BlockRelative block_relative(std::size_t count, const float* x, const float* y) {
  return HWY_DYNAMIC_DISPATCH(relative_errors)(count, x, y);
}

BlockUlp block_ulp(DType dtype, std::size_t count, const float* actual, const float* expected,
                   std::uint32_t* distances) {
  return HWY_DYNAMIC_DISPATCH(ulp_distances)(dtype, count, actual, expected, distances);
}

std::int64_t block_beyond(const Tolerance& tolerance, std::size_t count, const float* actual,
                          const float* expected, const std::uint32_t* distances) {
  return HWY_DYNAMIC_DISPATCH(floats_beyond)(tolerance, count, actual, expected, distances);
}

std::int64_t block_beyond(const Tolerance& tolerance, std::size_t count, const double* actual,
                          const double* expected, const std::uint32_t* distances) {
  return HWY_DYNAMIC_DISPATCH(doubles_beyond)(tolerance, count, actual, expected, distances);
}

double block_min_tolerance(double scale, std::size_t count, const float* actual,
                           const float* expected) {
  return HWY_DYNAMIC_DISPATCH(float_min_tolerance)(scale, count, actual, expected);
}

double block_min_tolerance(double scale, std::size_t count, const double* actual,
                           const double* expected) {
  return HWY_DYNAMIC_DISPATCH(double_min_tolerance)(scale, count, actual, expected);
}

double block_spread(double mean, std::size_t count, const float* values) {
  return HWY_DYNAMIC_DISPATCH(spread_of)(mean, count, values);
}

std::size_t find_error(double error, std::size_t count, const float* actual,
                       const float* expected) {
  return HWY_DYNAMIC_DISPATCH(find_float_error)(error, count, actual, expected);
}

std::size_t find_error(double error, std::size_t count, const double* actual,
                       const double* expected) {
  return HWY_DYNAMIC_DISPATCH(find_double_error)(error, count, actual, expected);
}

std::size_t find_worst_rel(const PairRules& rules, std::size_t count, const float* actual,
                           const float* expected, double& error) {
  return HWY_DYNAMIC_DISPATCH(find_worst_float_rel)(rules.smallest, count, actual, expected, error);
}

std::size_t find_worst_rel(const PairRules& rules, std::size_t count, const double* actual,
                           const double* expected, double& error) {
  return HWY_DYNAMIC_DISPATCH(find_worst_double_rel)(rules.smallest, count, actual, expected,
                                                     error);
}

KlSums block_kl(const KlScales& scales, std::size_t count, const float* x, const float* y) {
  return HWY_DYNAMIC_DISPATCH(kl_sums)(scales, count, x, y);
}

}  // namespace opbench

#endif  // HWY_ONCE
