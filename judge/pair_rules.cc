#include "judge/pair_rules.h"

#include <algorithm>
#include <bit>

namespace opbench {
namespace {

// Larger for coarser dtypes. Integers come before all floating dtypes, the wider ones last.
int coarseness(DType dtype) {
  switch (dtype) {
    case DType::boolean:
      return 0;
    case DType::int4:
      return 1;
    case DType::uint8:
      return 2;
    case DType::int8:
      return 3;
    case DType::int16:
      return 4;
    case DType::int32:
      return 5;
    case DType::int64:
      return 6;
    case DType::fp64:
      return 7;
    case DType::fp32:
      return 8;
    case DType::fp16:  // 11 bits
      return 9;
    case DType::bf16:  // 8 bits
      return 10;
    case DType::fp8_e4m3fn:  // 4 bits
      return 11;
    case DType::hif8:  // 1 to 4 bits
      return 12;
    case DType::fp8_e5m2:  // 3 bits
      return 13;
    case DType::e8m0:  // 1 bit
      return 14;
  }
  return 0;
}

}  // namespace

DType common_dtype(DType a, DType b) { return coarseness(a) < coarseness(b) ? b : a; }

PairRules pair_rules(const ValueKind& actual, const ValueKind& expected,
                     const Tolerance& tolerance) {
  const DType common = common_dtype(actual.dtype, expected.dtype);
  const double normal = is_floating(common) ? smallest_normal(common) : 1;
  const double smallest = std::max(normal, tolerance.relative_floor);
  return {actual, expected, common, smallest, tolerance};
}

// In fp16 and bf16 this is 32 units in the last place. In fp32, 32 units are far less than the
// effect of a condition of 10 or 100, as in softmax.
double share_of_limit(const Tolerance& tolerance, double scale) {
  constexpr double kTimes = 8;
  return tolerance.follows_scale && scale < 1 ? kTimes * tolerance.rtol : 0;
}

Tolerance at_scale(Tolerance tolerance, double scale, DType dtype) {
  if (!tolerance.follows_scale) return tolerance;
  tolerance.atol = std::max(tolerance.atol * scale, smallest_unit(dtype));
  tolerance.limit_share = share_of_limit(tolerance, scale);
  tolerance.limit = std::max(tolerance.limit * scale, smallest_unit(dtype));
  tolerance.follows_scale = false;
  return tolerance;
}

void set_scale(PairRules& rules, double scale) {
  rules.scale = scale;
  rules.tolerance = at_scale(rules.tolerance, scale, rules.common);
}

int histogram_bucket(double error) {
  constexpr int kExponentBits = 11, kMantissaBits = 52, kBias = 1023;
  const auto bits = std::bit_cast<std::uint64_t>(error) >> kMantissaBits;
  const int exponent = static_cast<int>(bits & ((1 << kExponentBits) - 1)) - kBias;
  return std::clamp(exponent + 1 - ErrorHistogram::kLowest, 0, ErrorHistogram::kBuckets - 1);
}

}  // namespace opbench
