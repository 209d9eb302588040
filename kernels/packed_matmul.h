#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/kernel.h"

namespace opbench {

/// Makes `count` elements of `dtype` fp32: `load_floats` as they are, `load_operands` as the cube
/// unit takes them.
using LoadFactor = void (*)(DType dtype, const void* from, std::int64_t count, float* to);

/// matmul or linear of plain tensors or FRACTAL_NZ, both factors packed in fp32, tiles of 64 rows
/// and columns; with few rows the second factor is used as it is loaded. Products are added in fp32
/// in the order of k, for any number of threads.
Launch packed_matmul(const Problem& problem, LoadFactor load);

/// Bytes of the packed factors.
std::size_t packed_matmul_bytes(const Problem& problem, LoadFactor load);

}  // namespace opbench
