#pragma once

#include <functional>

#include "kernels/kernel.h"
#include "kernels/simd/scratch.h"

namespace opbench {

/// A launch that computes fp16 and bf16 problems in fp32. Inputs are widened to temporaries,
/// `compute` gets fp32 tensors only, and outputs are narrowed. fp32 tensors and indices are used in
/// place. Storage is copied with its padding, whose values do not matter.
Launch in_fp32(const Problem& problem, std::function<void(const KernelArgs& args)> compute);

/// The bytes of the temporaries.
std::size_t in_fp32_bytes(const Problem& problem);

}  // namespace opbench
