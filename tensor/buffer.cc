#include "tensor/buffer.h"

#include <fmt/format.h>
#include <sys/mman.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "tensor/error.h"
#include "tensor/parallel.h"

namespace opbench {
namespace {

constexpr std::size_t kAlignment = 64;
constexpr std::size_t kHugePage = std::size_t{2} << 20;
constexpr std::size_t kMapFrom = std::size_t{1} << 20;  // bytes
// Read as fp16 it is NaN, as fp32 -1.7e38: reads beyond the ends show up, too.
constexpr std::byte kGuard{0xFE};

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

bool all_guard(const std::byte* zone) {
  return std::all_of(zone, zone + Buffer::kGuardBytes, [](std::byte b) { return b == kGuard; });
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
    // A wish: without huge pages everything works, only slower.
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
  std::memset(begin - Buffer::kGuardBytes, static_cast<int>(kGuard), Buffer::kGuardBytes);
  std::memset(begin + bytes, static_cast<int>(kGuard), Buffer::kGuardBytes);
}

bool guards_intact(const void* data, std::size_t bytes) {
  const auto* begin = static_cast<const std::byte*>(data);
  return all_guard(begin - Buffer::kGuardBytes) && all_guard(begin + bytes);
}

void fill_bytes(void* data, int value, std::size_t bytes) {
  constexpr std::int64_t kGrain = 16 * 1024;  // worth waking a thread for
  auto* begin = static_cast<std::byte*>(data);
  parallel_ranges(static_cast<std::int64_t>(bytes), kGrain,
                  [=](std::int64_t first, std::int64_t last) {
                    std::memset(begin + first, value, static_cast<std::size_t>(last - first));
                  });
}

}  // namespace opbench
