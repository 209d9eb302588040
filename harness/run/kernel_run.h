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

/// The elements of a tensor in their logical order, as they are stored.
using Elements = std::vector<std::byte>;

/// The inputs of one use of an operator, without padding.
using InputElements = std::vector<Elements>;

/// The values that the case states, or that suit the operator; corner values among the first where
/// `corners` wants some. Those that the kernel does not answer for, and those that would drown the
/// others in an operator that adds elements up, are left out.
InputElements elements_of(const Case& c, const Problem& problem, std::uint64_t seed,
                          std::optional<InputRange> corners);

/// A tensor in storage with room around it: `offset` bytes behind a page's begin, `around` in the
/// bytes before and after it.
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

/// The surroundings of a run, which no result may depend on.
struct Surroundings {
  int threads = 1;
  std::string isa = {};    ///< empty: the current one
  std::size_t offset = 0;  ///< of every tensor from a page's begin, a multiple of 64 bytes
  int around = 0xFE;       ///< bytes before and after every tensor
  int before = 0xFF;       ///< bytes of the outputs before they are written
};

/// What a kernel makes of these values. Errors: whatever it throws.
std::vector<Elements> run_kernel_on(const Kernel& kernel, const Problem& problem,
                                    const InputElements& inputs, const Surroundings& how);

}  // namespace opbench
