#pragma once

#include "compare/comparison.h"

namespace opbench {

/// Passes outputs that fail `mixed` as sums that cancelled, as the gradients of biases before a
/// batch norm do: every element differs by at most atol of what the terms amount to (see
/// terms_scale). They are then measured at the scale of the terms, also where a later operator
/// reads them.
void hold_to_terms(Comparison& comparison);

/// Judges the outputs of operators that are held to `fp16-cube`: each may be off, as a whole (see
/// sum_error), by 8 times what its inputs are, or by what one operator gives by itself, whichever
/// is more: 2^-8 for products and for fp16, 2^-10 for others in fp32, 2^-5 for bf16. Inputs are
/// judged where they are outputs.
void hold_to_inputs(Comparison& comparison);

}  // namespace opbench
