#pragma once

#include <cmath>
#include <initializer_list>
#include <span>

#include "ops/op.h"

namespace opbench {

/// The terms of a use of an operator, with a magnitude. Where the operator states none, it is
/// found: sums are added up once more, of magnitudes; an element that is one operation on the
/// inputs is rounded once; of others it is their own magnitude and how much they change with each
/// input, as multiples of a change of the input by 2^-5. Inputs are copied for that when it is
/// asked for. `problem` and the storage of `inputs` outlive the result.
Terms terms_of(const Problem& problem, std::span<const InputReader> inputs);

/// Selects a sum of terms, or the sum of their magnitudes.
enum class Sum { values, terms };

inline double summand(Sum sum, double value) {
  return sum == Sum::terms ? std::fabs(value) : value;
}
/// a - b, or |a| + |b|.
inline double subtracted(Sum sum, double a, double b) { return summand(sum, a) + summand(sum, -b); }

/// |value|, 0 of Inf and NaN: beside an infinite term the sum of the others may leave the range
/// with the other sign.
double finite_magnitude(double value);

/// The greatest magnitude of a product of some of `factors`.
double greatest_product(std::initializer_list<double> factors);

}  // namespace opbench
