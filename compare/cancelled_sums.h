#pragma once

#include "compare/comparison.h"

namespace opbench {

/// Passes outputs that fail `mixed` as sums that cancelled, as the gradients of biases before a
/// batch norm do: where every element is off by at most atol of what the terms come to (see
/// terms_scale). The scale that they are measured at is then the terms', and also where a later
/// operator reads them.
void hold_to_terms(Comparison& comparison);

}  // namespace opbench
