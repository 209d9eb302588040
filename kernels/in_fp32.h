#pragma once

#include <functional>

#include "kernels/kernel.h"
#include "tensor/buffer.h"

namespace opbench {

/// A launch that computes fp16 and bf16 problems in fp32: inputs are widened to temporaries,
/// `compute` sees fp32 everywhere, outputs are narrowed. fp32 tensors and indices are used in
/// place. Storage is copied as it lies, padding included, whatever it holds.
Launch in_fp32(const Problem& problem, std::function<void(const KernelArgs& args)> compute);

/// Bytes of the temporaries.
std::size_t in_fp32_bytes(const Problem& problem);

/// An fp32 temporary, aligned to cache lines.
class Scratch {
 public:
  explicit Scratch(std::int64_t count) : buffer_(static_cast<std::size_t>(count) * sizeof(float)) {}
  float* data() const { return static_cast<float*>(buffer_.data()); }

 private:
  Buffer buffer_;
};

}  // namespace opbench
