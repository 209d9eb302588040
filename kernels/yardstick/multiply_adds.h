#pragma once

#include <cstdint>

namespace opbench {

/// Operations of one call of `multiply_adds` on each thread: 2 per fused multiply-add and lane,
/// with the widest vectors that the program uses here.
double multiply_add_operations(bool in_fp64);

/// Fused multiply-adds in registers, as many independent ones as hide their latency, on every
/// thread of `with_threads`: what arithmetic can reach at most. In fp32, in which kernels compute
/// fp16 and bf16 too, or in fp64. Where the instruction set has none, a product and a sum.
void multiply_adds(bool in_fp64);

}  // namespace opbench
