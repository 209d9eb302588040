#include "tensor/checksum.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <vector>

#include "tensor/parallel.h"

namespace opbench {
namespace {

constexpr std::size_t kChunk = std::size_t{1} << 20;  // bytes
constexpr std::size_t kLanes = 8;                     // hides the latency of the multiplication
constexpr std::size_t kStep = kLanes * sizeof(std::uint64_t);
constexpr std::uint64_t kPrime = 0x9E3779B185EBCA87;  // xxHash's first

// For a fixed `state` a bijection of `word` and the other way round: no single change is lost. The
// rotation carries high bits down; without it two flipped signs would cancel.
std::uint64_t mix(std::uint64_t state, std::uint64_t word) {
  return std::rotl((state ^ word) * kPrime, 29);
}

std::uint64_t chunk_checksum(const std::byte* data, std::size_t bytes) {
  std::array<std::uint64_t, kLanes> lanes = {1, 2, 3, 4, 5, 6, 7, 8}, words;
  std::size_t at = 0;
  for (; at + kStep <= bytes; at += kStep) {
    std::memcpy(words.data(), data + at, kStep);
    for (std::size_t lane = 0; lane < kLanes; ++lane) lanes[lane] = mix(lanes[lane], words[lane]);
  }
  words.fill(0);
  std::memcpy(words.data(), data + at, bytes - at);
  std::uint64_t result = bytes;
  for (std::size_t lane = 0; lane < kLanes; ++lane) {
    result = mix(result, mix(lanes[lane], words[lane]));
  }
  return result;
}

}  // namespace

std::uint64_t checksum(const void* data, std::size_t bytes) {
  std::vector<std::uint64_t> chunks((bytes + kChunk - 1) / kChunk);
  parallel_blocks(static_cast<std::int64_t>(chunks.size()), [&](std::int64_t i) {
    const std::size_t at = static_cast<std::size_t>(i) * kChunk;
    chunks[static_cast<std::size_t>(i)] =
        chunk_checksum(static_cast<const std::byte*>(data) + at, std::min(kChunk, bytes - at));
  });
  std::uint64_t result = bytes;
  for (const std::uint64_t chunk : chunks) result = mix(result, chunk);
  return result ^ result >> 32;
}

}  // namespace opbench
