#pragma once

#include <cstddef>

#include "ops/op.h"

namespace opbench {

/// The number of terms in the longest sum for an element of an output. It is the number of
/// operations per element. For an operator that mixes elements in other ways, it is at least the
/// longest axis and the number of operations per element of the smallest output.
double terms_of_element(const Problem& problem, std::size_t output);

/// The terms of operands that are rounded to the dtype of output `output`, as terms of its fp32
/// sums, per unit of their magnitude. 0 for fp32.
double weight_of_rounded_operands(const Problem& problem, std::size_t output);

}  // namespace opbench
