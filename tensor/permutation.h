#pragma once

#include <array>
#include <cstdint>
#include <span>

namespace opbench {

/// A random permutation of [0, count) whose entries can be had one at a time: a Feistel network
/// over the next power of two, walked until it comes back into the range. Source: Black and Rogaway
/// 2002, "Ciphers with arbitrary finite domains".
class Permutation {
 public:
  Permutation(std::uint64_t seed, std::int64_t count);
  /// Entries first, first + 1, ...
  void entries(std::int64_t first, std::span<double> to) const;

 private:
  std::uint64_t network(std::uint64_t value) const;

  static constexpr int kRounds = 8;

  std::uint64_t count_;
  int low_bits_;
  int high_bits_;
  std::array<std::uint32_t, kRounds> keys_;
};

}  // namespace opbench
