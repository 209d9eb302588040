#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "harness/plan/graph.h"

namespace opbench {

/// Where the tensors of a graph lie. What is given (inputs, parameters, constants, zeros, seeds)
/// and the outputs live through the whole call; an intermediate tensor lives from the node that
/// writes it to the last that reads it, and its place is used again afterwards.
struct MemoryPlan {
  /// Of each tensor from the beginning of the one allocation, a multiple of 64; before and after
  /// each tensor lie kGuardBytes that belong to nobody.
  std::vector<std::size_t> offsets;
  std::size_t bytes = 0;           ///< of the allocation
  std::size_t unshared_bytes = 0;  ///< what it would be without reuse

  std::size_t slack = 0;  ///< behind each tensor, by which it may be moved

  static constexpr std::size_t kGuardBytes = Buffer::kGuardBytes;
  static constexpr std::size_t kPage = 4096;
};

/// Places tensors in the order in which they come to life, each into the smallest gap that holds
/// it. O(n log n). Behind each are `slack` bytes more.
/// Errors: throws Error if the tensors come to more than 2^60 bytes.
MemoryPlan plan_memory(const Graph& graph, std::size_t slack = 0);

/// A place of its own for every tensor, none used again: for a graph whose tensors are all looked
/// at after it has run. Large tensors begin on a huge page, as a Buffer of their own would.
MemoryPlan plan_apart(const Graph& graph, std::size_t slack = 0);

/// How many bytes further on than planned a tensor lies in layout number `layout`: a multiple of 64
/// below a page, of its own for each tensor and number, and in every process and build the same; in
/// layout 0 none. How tensors lie to each other within a page alone makes a call up to twice as
/// long.
std::size_t layout_shift(std::uint64_t layout, std::size_t tensor);

}  // namespace opbench
