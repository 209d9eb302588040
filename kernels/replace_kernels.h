#pragma once

#include "kernels/kernel.h"

namespace opbench {

/// Replaces every registered kernel by `replacement(kernel)`, for programs that test the handling
/// of wrong kernels. Call it only before the first `kernels_of`.
void replace_kernels(const Kernel* (*replacement)(const Kernel* kernel));

}  // namespace opbench
