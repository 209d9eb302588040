#pragma once

#include <cstddef>

namespace opbench::guest {

/// The memory of all tensors, which opbench passes as a file descriptor and only enlarges.
class SharedMemory {
 public:
  static constexpr int kDescriptor = 3;

  /// Maps the memory again if it grew to `bytes`. Earlier addresses stay valid: libraries keep
  /// them. Errors: throws std::runtime_error.
  void grow(std::size_t bytes);
  std::byte* data() const { return data_; }
  std::size_t bytes() const { return bytes_; }

 private:
  std::byte* data_ = nullptr;
  std::size_t bytes_ = 0;
};

}  // namespace opbench::guest
