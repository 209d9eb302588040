#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "harness/plan/case.h"
#include "kernels/kernel.h"
#include "tensor/buffer.h"

namespace opbench {

/// Elements of a tensor in their logical order, in storage dtype.
using Elements = std::vector<std::byte>;

/// Inputs of one use of an operator, without padding.
using InputElements = std::vector<Elements>;

/// Values that the case states, or that suit the operator. Corner values are among the first
/// elements if `corners` is set. Corner values that the kernel does not take are left out, and so
/// are those that would dominate the sum in an operator that adds elements.
InputElements elements_of(const Case& c, const Problem& problem, std::uint64_t seed,
                          std::optional<InputRange> corners);

/// A tensor in storage with room around it. It begins `offset` bytes behind the start of a page.
/// The bytes before and after it have the value `around`.
class PlacedTensor {
 public:
  PlacedTensor(const TensorDesc& desc, std::size_t offset, int around, int fill);

  void* data() const { return static_cast<std::byte*>(memory_.data()) + begin_; }
  Elements elements() const;
  void write(const Elements& elements) const;

 private:
  TensorDesc desc_;
  Buffer memory_;
  std::size_t begin_;
};

/// Conditions of a run that must not change its results.
struct Surroundings {
  int threads = 1;
  std::string isa = {};    ///< empty: the present one
  std::size_t offset = 0;  ///< of every tensor from the start of a page, a multiple of 64 bytes
  int around = 0xFE;       ///< value of the bytes before and after every tensor
  int before = 0xFF;       ///< value of the output bytes before they are written
};

/// Outputs of a kernel for these values.
/// Errors: throws the errors of the kernel.
std::vector<Elements> run_kernel_on(const Kernel& kernel, const Problem& problem,
                                    const InputElements& inputs, const Surroundings& how);

}  // namespace opbench
