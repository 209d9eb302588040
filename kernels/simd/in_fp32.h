#pragma once

#include <functional>

#include "kernels/kernel.h"
#include "kernels/simd/scratch.h"

namespace opbench {

/// A launch that computes fp16 and bf16 problems in fp32: inputs are widened to temporaries,
/// `compute` sees fp32 everywhere, outputs are narrowed. fp32 tensors and indices are used in
/// place. Storage is copied as it lies, padding included, whatever it holds.
Launch in_fp32(const Problem& problem, std::function<void(const KernelArgs& args)> compute);

/// Bytes of the temporaries.
std::size_t in_fp32_bytes(const Problem& problem);

}  // namespace opbench
