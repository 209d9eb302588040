#pragma once

#include <cstdint>

namespace opbench {

/// Two units with a latency of 4 to 5 cycles need 8 to 10 chains at once; 16 registers hold 12
/// chains, the factor and the term. This many rounds take a tenth of a millisecond, long compared
/// with waking the threads.
inline constexpr int kMultiplyAddChains = 12, kMultiplyAddRounds = 100'000;

/// The operations of one call of `multiply_adds` on each thread: 2 per fused multiply-add and lane,
/// with the widest vectors that the program uses here.
double multiply_add_operations(bool in_fp64);

/// Measures the peak of arithmetic: independent fused multiply-adds in registers, enough to hide
/// their latency, on every thread of `with_threads`. In fp32, in which kernels also compute fp16
/// and bf16, or in fp64. Without fused instructions it uses a product and a sum. Returns the sum of
/// the first lane of all chains over all threads: on each thread, chain i of kMultiplyAddChains has
/// counted from i to i + kMultiplyAddRounds.
double multiply_adds(bool in_fp64);

}  // namespace opbench
