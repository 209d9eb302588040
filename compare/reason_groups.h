#pragma once

#include <string>
#include <vector>

#include "compare/comparison.h"

namespace opbench {

/// Tensors with the same text.
struct ReasonGroup {
  std::string reason;
  std::vector<const TensorResult*> tensors;
};
/// Tensors of that verdict by its reason, the largest group first.
std::vector<ReasonGroup> by_reason(const Comparison& comparison, Verdict verdict);
/// Tensors by warning, the largest group first. A tensor with two warnings is in two groups.
std::vector<ReasonGroup> by_warning(const Comparison& comparison);

/// States which tensors could not be read, or else why no tensor was compared, with the first as an
/// example. Empty if neither applies.
std::string why_not_compared(const Comparison& comparison);

}  // namespace opbench
