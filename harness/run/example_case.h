#pragma once

#include <optional>
#include <vector>

#include "harness/plan/case.h"
#include "kernels/kernel.h"

namespace opbench {

/// A case of `op` with the inputs that --shapes makes from `shape`. None if the operator does not
/// take it.
std::optional<Case> case_like(const Op& op, const Dims& shape, DType dtype, Format format,
                              const Attrs& attrs);

/// The first of a list of small cases, of every rank, that `kernel` takes in this dtype and format.
/// Attributes are the operator's defaults, or one of them is changed.
std::optional<Case> example_case(const Kernel& kernel, DType dtype, Format format);

/// Like the overload above, in the first dtype (fp32 before all others) and format of the operator
/// that the kernel takes.
std::optional<Case> example_case(const Kernel& kernel);

/// True for a variant that models a defective operator of the device, and fails like it.
bool is_defective(const Kernel& kernel);

/// The operator's dtypes; fp32 is first if the operator takes it.
std::vector<DType> example_dtypes(const Op& op);

}  // namespace opbench
