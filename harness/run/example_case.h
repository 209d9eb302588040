#pragma once

#include <optional>
#include <vector>

#include "harness/plan/case.h"
#include "kernels/kernel.h"

namespace opbench {

/// A case of `op` on inputs as --shapes would make them of `shape`; none where the operator does
/// not take it.
std::optional<Case> case_like(const Op& op, const Dims& shape, DType dtype, Format format,
                              const Attrs& attrs);

/// The first case of a list of small ones, of every rank, that `kernel` takes in this dtype and
/// format, under the operator's default attributes or with one of them changed.
std::optional<Case> example_case(const Kernel& kernel, DType dtype, Format format);

/// The same in the first of the operator's dtypes, fp32 before all others, and formats that it
/// takes.
std::optional<Case> example_case(const Kernel& kernel);

/// True for a variant that stands for an operator of the device with a defect, and fails as it
/// does.
bool is_defective(const Kernel& kernel);

/// The operator's dtypes, fp32 first where it is among them.
std::vector<DType> example_dtypes(const Op& op);

}  // namespace opbench
