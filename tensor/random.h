#pragma once

#include <array>
#include <cstdint>
#include <span>

namespace opbench {

/// Philox4x32-10: four random words that depend on counter and key only. Source: Salmon, Moraes,
/// Dror, Shaw 2011, "Parallel random numbers: as easy as 1, 2, 3".
inline std::array<std::uint32_t, 4> philox4x32(std::array<std::uint32_t, 4> counter,
                                               std::array<std::uint32_t, 2> key) {
  constexpr std::uint64_t kMultiplier0 = 0xD2511F53, kMultiplier1 = 0xCD9E8D57;
  constexpr std::uint32_t kWeyl0 = 0x9E3779B9, kWeyl1 = 0xBB67AE85;
  for (int round = 0; round < 10; ++round) {
    const std::uint64_t product0 = kMultiplier0 * counter[0];
    const std::uint64_t product1 = kMultiplier1 * counter[2];
    counter = {static_cast<std::uint32_t>(product1 >> 32) ^ counter[1] ^ key[0],
               static_cast<std::uint32_t>(product1),
               static_cast<std::uint32_t>(product0 >> 32) ^ counter[3] ^ key[1],
               static_cast<std::uint32_t>(product0)};
    key[0] += kWeyl0;
    key[1] += kWeyl1;
  }
  return counter;
}

/// The limit of Philox blocks in one call of the functions below; each block gives two elements.
inline constexpr std::int64_t kRandomBlocks = 256;

/// Writes 64 random bits for each of the elements [2 * first_block, 2 * (first_block + blocks)) of
/// a stream. Streams with different numbers are independent.
void random_bits(std::uint64_t seed, std::uint32_t stream, std::int64_t first_block,
                 std::int64_t blocks, std::uint64_t* to);

/// Writes standard normal values for the elements of random_bits: Box-Muller in fp64. Elements 2k
/// and 2k + 1 are sqrt(-2 ln u) * cos(2 pi v) and sqrt(-2 ln u) * sin(2 pi v) of block k. u in (0,
/// 1] is made of the upper 52 bits of element 2k, v in [0, 1) of those of element 2k + 1. Every
/// machine gives the same bits: ln, cos and sin are implemented here without fused operations. The
/// relative error is at most 2^-50.
void random_normals(std::uint64_t seed, std::uint32_t stream, std::int64_t first_block,
                    std::int64_t blocks, double* to);

/// A random permutation of [0, count) with entries that can be computed one at a time: a Feistel
/// network over the next power of two, repeated until the value is in the range ("cycle walking").
/// Source: Black and Rogaway 2002, "Ciphers with arbitrary finite domains".
class Permutation {
 public:
  Permutation(std::uint64_t seed, std::int64_t count);
  /// Writes the entries first, first + 1, ...
  void entries(std::int64_t first, std::span<double> to) const;

 private:
  std::uint64_t network(std::uint64_t value) const;

  static constexpr int kRounds = 8;  // of the Feistel network

  std::uint64_t count_;
  int low_bits_;
  int high_bits_;
  std::array<std::uint32_t, kRounds> keys_;
};

}  // namespace opbench
