#pragma once

#include <string>
#include <vector>

#include "compare/comparison.h"

namespace opbench {

/// Tensors that something is said of in the same words.
struct ReasonGroup {
  std::string reason;
  std::vector<const TensorResult*> tensors;
};
/// Tensors of that verdict by its reason, the largest group first.
std::vector<ReasonGroup> by_reason(const Comparison& comparison, Verdict verdict);
/// Tensors by warnings, the largest group first; one with two warnings is in two groups.
std::vector<ReasonGroup> by_warning(const Comparison& comparison);

/// Which tensors could not be read, else why none was compared, with the first as an example; empty
/// where neither is so.
std::string why_not_compared(const Comparison& comparison);

}  // namespace opbench
