#pragma once

#include <type_traits>
#include <vector>

#include "kernels/kernel.h"
#include "tensor/fill.h"

namespace opbench {

/// Storage whose padding lanes and results hold NaN until they are written.
Tensor poisoned(const TensorDesc& desc);

/// Fills only the logical elements. Padding lanes stay NaN, so a kernel that uses them gives NaN.
Tensor filled(const TensorDesc& desc, const Distribution& data, std::uint64_t seed);

/// Inputs of a problem, each with its own data.
std::vector<Tensor> filled_inputs(const Problem& problem);

std::vector<Tensor> poisoned_outputs(const Problem& problem);

template <class T>
std::vector<T*> pointers_to(std::vector<std::remove_const_t<T>>& tensors) {
  std::vector<T*> pointers;
  for (auto& tensor : tensors) pointers.push_back(&tensor);
  return pointers;
}

/// Runs a variant on poisoned storage and compares every output with the reference. Returns false,
/// without a run, if the variant refuses the problem.
[[nodiscard]] bool expect_conforms(const Kernel& kernel, const Problem& problem, int threads);

}  // namespace opbench
