#pragma once

#include <cstdint>

#include "compare/measure/pair_stats.h"
#include "compare/measure/stored_values.h"
#include "compare/standard/standard.h"

namespace opbench {

/// What the values of a pair are held to.
struct PairRules {
  ValueKind actual, expected;
  DType common = DType::fp32;  ///< whose units in the last place count
  double smallest = 0;         ///< divisor of relative errors where expected values are smaller
  Tolerance tolerance;
  bool finds_min_tolerance = false;
};

/// The coarser of both floating dtypes or the wider of both integers, a floating dtype before an
/// integer, which errors are counted in: fp16 against fp32 is fp16.
DType common_dtype(DType a, DType b);

PairRules pair_rules(const ValueKind& actual, const ValueKind& expected,
                     const Tolerance& tolerance);

/// The bucket of an error above 0.
int histogram_bucket(double error);

}  // namespace opbench
