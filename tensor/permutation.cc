#include "tensor/permutation.h"

#include <algorithm>
#include <bit>

#include "tensor/philox.h"

namespace opbench {
namespace {

constexpr std::uint32_t kStream = 0x7065726D;  // keeps the keys apart from the streams of values

// The finaliser of MurmurHash3, keyed.
std::uint32_t scrambled(std::uint64_t value, std::uint32_t key) {
  std::uint32_t x = static_cast<std::uint32_t>(value) ^ key;
  x = (x ^ x >> 16) * 0x85EBCA6B;
  x = (x ^ x >> 13) * 0xC2B2AE35;
  return x ^ x >> 16;
}

}  // namespace

Permutation::Permutation(std::uint64_t seed, std::int64_t count)
    : count_(static_cast<std::uint64_t>(std::max<std::int64_t>(count, 1))) {
  const int bits = static_cast<int>(std::bit_width(count_ - 1));
  low_bits_ = bits - bits / 2;
  high_bits_ = bits / 2;
  for (std::uint32_t block = 0; block < kRounds / 4; ++block) {
    const auto words = philox4x32({block, 0, 0, kStream}, {static_cast<std::uint32_t>(seed),
                                                           static_cast<std::uint32_t>(seed >> 32)});
    std::copy(words.begin(), words.end(), keys_.begin() + 4 * block);
  }
}

std::uint64_t Permutation::network(std::uint64_t value) const {
  const std::uint64_t low_mask = (std::uint64_t{1} << low_bits_) - 1;
  const std::uint64_t high_mask = (std::uint64_t{1} << high_bits_) - 1;
  std::uint64_t low = value & low_mask, high = value >> low_bits_;
  for (std::size_t round = 0; round < kRounds; round += 2) {
    low ^= scrambled(high, keys_[round]) & low_mask;
    high ^= scrambled(low, keys_[round + 1]) & high_mask;
  }
  return high << low_bits_ | low;
}

void Permutation::entries(std::int64_t first, std::span<double> to) const {
  for (std::size_t i = 0; i < to.size(); ++i) {
    std::uint64_t value = network(static_cast<std::uint64_t>(first) + i);
    while (value >= count_) value = network(value);
    to[i] = static_cast<double>(static_cast<std::int64_t>(value));
  }
}

}  // namespace opbench
