#pragma once

#include <cstddef>
#include <map>
#include <utility>

namespace opbench {

/// Memory that this process shares with a guest: a file without a name. The guest can neither
/// resize nor seal it.
class SharedMemory {
 public:
  /// Errors: throws RunError if the memory is not available.
  SharedMemory();
  SharedMemory(const SharedMemory&) = delete;
  SharedMemory& operator=(const SharedMemory&) = delete;
  ~SharedMemory();

  int descriptor() const { return descriptor_; }
  std::size_t bytes() const { return bytes_; }

  /// A part of the memory, mapped here. It begins at a page and is zero. Must not outlive the
  /// memory.
  class Block {
   public:
    Block() = default;
    Block(Block&& other) noexcept { *this = std::move(other); }
    Block& operator=(Block&& other) noexcept;
    ~Block() { release(); }

    std::size_t offset() const { return offset_; }
    std::byte* data() const { return data_; }

   private:
    friend SharedMemory;
    void release();

    SharedMemory* owner_ = nullptr;
    std::size_t offset_ = 0, bytes_ = 0;
    std::byte* data_ = nullptr;
  };
  /// Errors: throws RunError if the memory is not available.
  Block take(std::size_t bytes);

 private:
  int descriptor_ = -1;
  std::size_t bytes_ = 0;
  std::map<std::size_t, std::size_t> taken_;  ///< bytes by offset
};

}  // namespace opbench
