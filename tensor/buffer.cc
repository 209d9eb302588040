#include "tensor/buffer.h"

#include <fmt/format.h>
#include <sys/mman.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <utility>
#include <vector>

#include "tensor/error.h"
#include "tensor/parallel.h"

namespace opbench {
namespace {

constexpr std::size_t kAlignment = 64;  // bytes; a cache line
constexpr std::size_t kHugePage = std::size_t{2}
                                  << 20;  // bytes; of x86-64 and AArch64 with 4 KiB pages
constexpr std::size_t kMapFrom = std::size_t{1} << 20;  // bytes

// Eight bytes each of huge positive numbers, huge negative ones, the extremes of integers with 0,
// and NaN, in every dtype: a minimum, a maximum or a sum that read beyond the ends shows it.
constexpr std::array<std::uint8_t, 32> kGuard = {
    0xFF, 0x7B, 0xFF, 0x7B, 0xFF, 0x7B, 0xFF, 0x7B, 0xFE, 0xFB, 0xFE, 0xFB, 0xFE, 0xFB, 0xFE, 0xFB,
    0x80, 0x7F, 0x00, 0x80, 0x80, 0x7F, 0x00, 0x80, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF};
static_assert(Buffer::kGuardBytes % kGuard.size() == 0);

std::size_t round_up(std::size_t value, std::size_t multiple) {
  return (value + multiple - 1) / multiple * multiple;
}

void release(void* mapping, std::size_t mapping_bytes) {
  if (mapping_bytes > 0) {
    munmap(mapping, mapping_bytes);
  } else {
    std::free(mapping);
  }
}

[[noreturn]] void throw_no_memory(std::size_t bytes) {
  throw RunError(fmt::format("cannot get {} bytes of memory: {}", bytes, std::strerror(errno)));
}

void write_guard(std::byte* zone) {
  for (std::size_t i = 0; i < Buffer::kGuardBytes; i += kGuard.size())
    std::memcpy(zone + i, kGuard.data(), kGuard.size());
}

bool is_guard(const std::byte* zone) {
  for (std::size_t i = 0; i < Buffer::kGuardBytes; i += kGuard.size())
    if (std::memcmp(zone + i, kGuard.data(), kGuard.size()) != 0) return false;
  return true;
}

constexpr std::size_t kChunk = std::size_t{1} << 20;  // bytes
constexpr std::size_t kLanes = 8;                     // hides the latency of the multiplication
constexpr std::size_t kStep = kLanes * sizeof(std::uint64_t);
constexpr std::uint64_t kPrime = 0x9E3779B185EBCA87;  // xxHash's first

// A bijection of `word` for a fixed `state`, and of `state` for a fixed `word`: a single change
// always changes the result. The rotation moves high bits down; without it two flipped signs would
// cancel.
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

Buffer::Buffer(std::size_t bytes) : size_(bytes) {
  const std::size_t spare = 2 * kGuardBytes + kHugePage;
  if (bytes > PTRDIFF_MAX - spare) {
    throw RunError(fmt::format("cannot get {} bytes of memory: beyond the address space", bytes));
  }
  if (bytes < kMapFrom) {
    const std::size_t total = round_up(bytes + 2 * kGuardBytes, kAlignment);
    mapping_ = std::aligned_alloc(kAlignment, total);
    if (mapping_ == nullptr) throw_no_memory(bytes);
    data_ = static_cast<std::byte*>(mapping_) + kGuardBytes;
    std::memset(data_, 0, bytes);
  } else {
    mapping_bytes_ = bytes + spare;
    mapping_ =
        mmap(nullptr, mapping_bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (mapping_ == MAP_FAILED) throw_no_memory(bytes);
    const auto start = reinterpret_cast<std::uintptr_t>(mapping_);
    data_ = reinterpret_cast<std::byte*>(round_up(start + kGuardBytes, kHugePage));
    // Huge pages are only faster, so the result is not checked.
    madvise(data_, bytes, MADV_HUGEPAGE);
  }
  restore_guards();
}

Buffer& Buffer::operator=(Buffer&& other) noexcept {
  if (this == &other) return *this;
  release(mapping_, mapping_bytes_);
  mapping_ = std::exchange(other.mapping_, nullptr);
  mapping_bytes_ = std::exchange(other.mapping_bytes_, 0);
  data_ = std::exchange(other.data_, nullptr);
  size_ = std::exchange(other.size_, 0);
  return *this;
}

Buffer::~Buffer() { release(mapping_, mapping_bytes_); }

bool Buffer::guards_intact() const {
  return data_ == nullptr || opbench::guards_intact(data_, size_);
}

void Buffer::restore_guards() const {
  if (data_ != nullptr) write_guards(data_, size_);
}

void write_guards(void* data, std::size_t bytes) {
  auto* begin = static_cast<std::byte*>(data);
  write_guard(begin - Buffer::kGuardBytes);
  write_guard(begin + bytes);
}

bool guards_intact(const void* data, std::size_t bytes) {
  const auto* begin = static_cast<const std::byte*>(data);
  return is_guard(begin - Buffer::kGuardBytes) && is_guard(begin + bytes);
}

void fill_bytes(void* data, int value, std::size_t bytes) {
  constexpr std::int64_t kGrain = 16 * 1024;  // bytes; fewer do not repay waking a thread
  auto* begin = static_cast<std::byte*>(data);
  parallel_ranges(static_cast<std::int64_t>(bytes), kGrain,
                  [=](std::int64_t first, std::int64_t last) {
                    std::memset(begin + first, value, static_cast<std::size_t>(last - first));
                  });
}

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
