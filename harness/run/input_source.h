#pragma once

#include <cstddef>

#include "tensor/tensor.h"

namespace opbench {

/// Where the values of a case's inputs come from if they are not generated: recorded ones.
class InputSource {
 public:
  InputSource() = default;
  InputSource(const InputSource&) = delete;
  InputSource& operator=(const InputSource&) = delete;
  virtual ~InputSource() = default;

  /// Writes input `input` of the case to memory that is laid out as `desc` says; padding becomes
  /// zero. The same values every time. Errors: throws Error if they are not to be had.
  virtual void fill(std::size_t input, const TensorDesc& desc, void* to) const = 0;
};

}  // namespace opbench
