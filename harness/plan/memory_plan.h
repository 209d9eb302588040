#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "harness/plan/graph.h"

namespace opbench {

/// Memory layout of a graph's tensors. Given tensors (inputs, parameters, constants, zeros, seeds)
/// and the outputs live for the whole call. An intermediate tensor lives from the node that writes
/// it to the last node that reads it. Its memory is reused afterwards.
struct MemoryPlan {
  /// Offset of each tensor in the single allocation, a multiple of 64. A guard zone of kGuardBytes
  /// lies before and after each tensor.
  std::vector<std::size_t> offsets;
  std::size_t bytes = 0;           ///< size of the allocation
  std::size_t unshared_bytes = 0;  ///< size without reuse

  std::size_t slack = 0;  ///< reserve behind each tensor, for `layout_shift`

  static constexpr std::size_t kGuardBytes = Buffer::kGuardBytes;
  static constexpr std::size_t kPage = 4096;
};

/// Places tensors in the order of their first use, each into the smallest gap that holds it (best
/// fit). O(n log n). `slack` bytes are reserved behind each tensor.
/// Errors: throws Error if the tensors need more than 2^60 bytes.
MemoryPlan plan_memory(const Graph& graph, std::size_t slack = 0);

/// Gives every tensor memory of its own, without reuse: for a graph whose tensors are all examined
/// after it has run. Large tensors begin at a huge page, like a Buffer of their own.
MemoryPlan plan_apart(const Graph& graph, std::size_t slack = 0);

/// Offset that layout number `layout` adds to the planned place of a tensor: a multiple of 64 below
/// a page size. It depends on the tensor and the number only, and is 0 in layout 0. It is equal in
/// every process and build. The relative placement of tensors within a page alone changes the time
/// of a call by up to a factor of 2.
std::size_t layout_shift(std::uint64_t layout, std::size_t tensor);

}  // namespace opbench
