#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>

namespace opbench {

/// Owns zero-initialised memory, aligned to 64 bytes, with a guard zone of kGuardBytes on each
/// side. Large buffers request huge pages: timings then do not measure the page table.
class Buffer {
 public:
  static constexpr std::size_t kGuardBytes = 256;

  Buffer() = default;
  /// Errors: throws RunError if the memory is not available.
  explicit Buffer(std::size_t bytes);
  Buffer(Buffer&& other) noexcept { *this = std::move(other); }
  Buffer& operator=(Buffer&& other) noexcept;
  ~Buffer();

  void* data() const { return data_; }
  std::size_t size() const { return size_; }

  /// False if anything was written into the guard zones since construction.
  bool guards_intact() const;

  /// Writes the guard zones again, after damage was found and reported.
  void restore_guards() const;

 private:
  void* mapping_ = nullptr;
  std::size_t mapping_bytes_ = 0;
  std::byte* data_ = nullptr;
  std::size_t size_ = 0;
};

/// Writes the guard zones before and after `bytes` at `data`; both belong to the caller.
void write_guards(void* data, std::size_t bytes);

/// False if anything was written into those zones since.
bool guards_intact(const void* data, std::size_t bytes);

/// Sets every byte to `value`, at memory speed.
void fill_bytes(void* data, int value, std::size_t bytes);

/// A 64-bit fingerprint of memory, computed at memory speed, equal for every thread count. It is
/// not cryptographic: it detects writes into a buffer.
std::uint64_t checksum(const void* data, std::size_t bytes);

}  // namespace opbench
