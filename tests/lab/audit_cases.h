#pragma once

#include <vector>

#include "harness/plan/case.h"
#include "kernels/kernel.h"

namespace opbench {

/// Cases of a dtype. A mutation is detected in the dtype if it is detected in any case.
using DTypeCases = std::vector<Case>;

/// For each dtype that the kernel takes: an example, losses also without reduction, and cases with
/// the inputs and attributes that mutations of one operator need.
std::vector<DTypeCases> audit_cases(const Kernel& kernel);

}  // namespace opbench
