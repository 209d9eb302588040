#pragma once

#include <cstdint>

namespace opbench {

/// Two units with a latency of 4 to 5 cycles want 8 to 10 chains at once; 16 registers hold 12, the
/// factor and the term. So many rounds take a tenth of a millisecond: waking the threads is nothing
/// beside it.
inline constexpr int kMultiplyAddChains = 12, kMultiplyAddRounds = 100'000;

/// Operations of one call of `multiply_adds` on each thread: 2 per fused multiply-add and lane,
/// with the widest vectors that the program uses here.
double multiply_add_operations(bool in_fp64);

/// Fused multiply-adds in registers, as many independent ones as hide their latency, on every
/// thread of `with_threads`: what arithmetic can reach at most. In fp32, in which kernels compute
/// fp16 and bf16 too, or in fp64. Where the instruction set has none, a product and a sum.
/// Returns the sum of the first lane of all chains over all threads: on each, chain i of
/// kMultiplyAddChains has counted from i to i + kMultiplyAddRounds.
double multiply_adds(bool in_fp64);

}  // namespace opbench
