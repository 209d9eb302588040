#pragma once

#include <cstdint>

#include "judge/pair_stats.h"
#include "judge/standard.h"
#include "judge/stored_values.h"

namespace opbench {

/// The rules for the values of a pair.
struct PairRules {
  ValueKind actual, expected;
  DType common = DType::fp32;  ///< whose units in the last place count
  double smallest = 0;         ///< divisor of relative errors where expected values are smaller
  Tolerance tolerance;
  double scale = 1;  ///< of the tensor that is expected; where the tolerance follows it
};

/// The dtype whose units count errors. It is the coarser of two floating dtypes, the wider of two
/// integers, and a floating dtype rather than an integer: fp16 for fp16 and fp32.
DType common_dtype(DType a, DType b);

PairRules pair_rules(const ValueKind& actual, const ValueKind& expected,
                     const Tolerance& tolerance);

/// The tolerance for a tensor of that scale with values of `dtype`. It has the same form, with
/// numbers in place of parts of the scale. The numbers are at least one unit in the last place of
/// the smallest numbers: no rounding is closer.
Tolerance at_scale(Tolerance tolerance, double scale, DType dtype);
/// limit_share of a tolerance that follows `scale`.
double share_of_limit(const Tolerance& tolerance, double scale);

/// Sets `scale` and dependent members.
void set_scale(PairRules& rules, double scale);

/// The bucket of an error above 0.
int histogram_bucket(double error);

}  // namespace opbench
