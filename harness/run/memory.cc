#include "harness/run/memory.h"

#include <fmt/format.h>

#include <algorithm>

#include "harness/plan/selection.h"
#include "harness/run/available_memory.h"
#include "tensor/error.h"
#include "tensor/parallel.h"
#include "text/byte_size.h"

namespace opbench {

namespace {

std::size_t largest_temporary_bytes(const PlannedStep& step, int threads) {
  std::size_t largest = 0;
  with_threads(threads, [&] {
    for (std::size_t i = 0; i < step.graph.nodes.size(); ++i) {
      largest = std::max(largest,
                         temporary_bytes(*step.selection.kernels[i], step.graph.nodes[i].problem));
    }
  });
  return largest;
}

std::size_t result_bytes(const PlannedStep& step) {
  std::size_t bytes = 0;
  for (const std::size_t tensor : step.results) {
    const TensorDesc& desc = step.graph.tensors[tensor].desc;
    bytes += static_cast<std::size_t>(desc.elements()) * size_of(desc.dtype);
  }
  return bytes;
}

}  // namespace

void require_memory_of(const Graph& graph, std::span<const Selection* const> selections,
                       int threads) {
  std::size_t needed = graph.memory_bytes();
  with_threads(threads, [&] {
    for (const Selection* selection : selections) needed += temporary_bytes(graph, *selection);
  });
  require_memory(needed,
                 "take a smaller shape or batch (--set N=...), or fewer variants at once "
                 "(--variant)");
}

void require_memory_of(const PlannedStep& step, int threads, bool verifies) {
  // The first step's results, those that are held to them, and the pairs in between.
  const std::size_t compared = verifies ? 3 * result_bytes(step) : 0;
  require_memory(step.memory.bytes + largest_temporary_bytes(step, threads) + compared,
                 "take a smaller batch (--set N=...), or leave the comparison of results out "
                 "(--no-verify)");
}

void require_memory(std::size_t bytes, std::string_view advice) {
  const std::size_t available = available_memory();
  if (bytes <= available) return;
  throw RunError(fmt::format("needs {} of memory, {} are free; {}",
                             byte_size_text(static_cast<double>(bytes)),
                             byte_size_text(static_cast<double>(available)), advice));
}

}  // namespace opbench
