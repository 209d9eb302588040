#pragma once

#include <cmath>
#include <initializer_list>
#include <span>

#include "ops/op.h"

namespace opbench {

/// The terms of a use of an operator, always with a magnitude. If the operator states no terms,
/// they are computed. A sum is repeated with magnitudes. A single operation on the inputs is
/// rounded once. Other elements get their own magnitude plus their change for a change of each
/// input by 2^-5, scaled to the full input; this copies the inputs on the first request. `problem`
/// and the storage of `inputs` outlive the result.
Terms terms_of(const Problem& problem, std::span<const InputReader> inputs);

/// Selects a sum of terms, or the sum of their magnitudes.
enum class Sum { values, terms };

inline double summand(Sum sum, double value) {
  return sum == Sum::terms ? std::fabs(value) : value;
}
/// a - b, or |a| + |b|.
inline double subtracted(Sum sum, double a, double b) { return summand(sum, a) + summand(sum, -b); }

/// |value|, and 0 for Inf and NaN: next to an infinite term the sum of the other terms may overflow
/// with the other sign.
double finite_magnitude(double value);

/// The greatest magnitude of a product of some of `factors`.
double greatest_product(std::initializer_list<double> factors);

}  // namespace opbench
