#pragma once

#include "kernels/kernel.h"

namespace opbench {

/// Puts `replacement(kernel)` in the place of every registered kernel, for programs that test what
/// becomes of bad ones. Only before `kernels_of` is first called.
void replace_kernels(const Kernel* (*replacement)(const Kernel* kernel));

}  // namespace opbench
