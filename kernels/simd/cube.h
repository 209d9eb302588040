#pragma once

#include <cstdint>

#include "kernels/kernel.h"
#include "kernels/simd/gemm.h"

namespace opbench {

/// The cube unit of Ascend 910 multiplies fp16 and adds in fp32. fp32 operands are narrowed to fp16
/// first (allow_fp32_to_fp16), and values beyond 65504 are clamped to it. Here an operand is fp32
/// memory with fp16 values. Source: CANN op info of Conv2D and MatMulV2 (fp16 inputs); torch_npu's
/// precision mode.
inline constexpr std::int64_t kCube = 16;  ///< a cube step is 16 x 16 x 16

inline std::int64_t round_up_to_cube(std::int64_t count) {
  return (count + kCube - 1) / kCube * kCube;
}

/// Loads `count` elements of `dtype` (fp32 or fp16) as cube operands.
void load_operands(DType dtype, const void* from, std::int64_t count, float* to);

/// Loads `count` elements of `dtype` (fp32, fp16 or bf16) unchanged, for numbers that the cube unit
/// adds in fp32 and for the vector unit.
void load_floats(DType dtype, const void* from, std::int64_t count, float* to);

/// Stores `count` sums rounded to `dtype` (fp32, fp16 or bf16).
void store_floats(DType dtype, const float* from, std::int64_t count, void* to);

/// Empty, or the reason why the cube unit does not take these tensors: bf16, or blocks other than
/// 16.
std::string cube_refusal(const Problem& problem);

}  // namespace opbench
