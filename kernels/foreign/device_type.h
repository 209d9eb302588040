#pragma once

#include "kernels/kernel.h"

namespace opbench {

/// Device of a kernel as in DLPack: 1 for this processor, 2 CUDA, 4 OpenCL, 12 NPU.
int device_type_of(const Kernel& kernel);

}  // namespace opbench
