#pragma once

#include <cstdint>

namespace opbench {

/// Philox blocks that one call below makes at most; each is good for two elements.
inline constexpr std::int64_t kRandomBlocks = 256;

/// 64 random bits for each of the elements [2 * first_block, 2 * (first_block + blocks)) of a
/// stream. Streams with different numbers are independent.
void random_bits(std::uint64_t seed, std::uint32_t stream, std::int64_t first_block,
                 std::int64_t blocks, std::uint64_t* to);

/// Standard normal values for the same elements: Box-Muller in fp64, elements 2k and 2k + 1 being
/// sqrt(-2 ln u) * cos(2 pi v) and * sin(2 pi v) of block k, where u in (0, 1] is made from the
/// upper 52 bits of random_bits of element 2k and v in [0, 1) from those of element 2k + 1. The
/// same bits on every machine: ln, cos and sin are our own and nothing is fused. Within 2^-50 of
/// the exact value, relative.
void random_normals(std::uint64_t seed, std::uint32_t stream, std::int64_t first_block,
                    std::int64_t blocks, double* to);

}  // namespace opbench
