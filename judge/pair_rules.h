#pragma once

#include <cstdint>

#include "judge/pair_stats.h"
#include "judge/standard.h"
#include "judge/stored_values.h"

namespace opbench {

/// What the values of a pair are held to.
struct PairRules {
  ValueKind actual, expected;
  DType common = DType::fp32;  ///< whose units in the last place count
  double smallest = 0;         ///< divisor of relative errors where expected values are smaller
  Tolerance tolerance;
  double scale = 1;  ///< of the tensor that is expected; where the tolerance follows it
};

/// The coarser of both floating dtypes or the wider of both integers, a floating dtype before an
/// integer, which errors are counted in: fp16 against fp32 is fp16.
DType common_dtype(DType a, DType b);

PairRules pair_rules(const ValueKind& actual, const ValueKind& expected,
                     const Tolerance& tolerance);

/// The distance of the numbers next to 0; 0 for integers.
double smallest_unit(DType dtype);

/// The tolerance for a tensor of that scale, whose values are of `dtype`: of the same form with
/// numbers in place of parts of the scale. They are no smaller than one unit in the last place of
/// the smallest numbers, which no rounding can meet.
Tolerance at_scale(Tolerance tolerance, double scale, DType dtype);
/// limit_share of a tolerance that is to follow `scale`.
double share_of_limit(const Tolerance& tolerance, double scale);

/// Sets `scale` and what follows from it.
void set_scale(PairRules& rules, double scale);

/// The bucket of an error above 0.
int histogram_bucket(double error);

}  // namespace opbench
