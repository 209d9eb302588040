#include "harness/run/memory.h"

#include <fmt/format.h>

#include "harness/plan/selection.h"
#include "harness/record/machine.h"
#include "tensor/error.h"
#include "tensor/parallel.h"

namespace opbench {

void require_memory(const Graph& graph, std::span<const Selection* const> selections, int threads) {
  std::size_t needed = graph.memory_bytes();
  with_threads(threads, [&] {
    for (const Selection* selection : selections) needed += temporary_bytes(graph, *selection);
  });
  require_memory(needed,
                 "take a smaller shape or batch (--set N=...), or fewer variants at once "
                 "(--variant)");
}

void require_memory(std::size_t bytes, std::string_view advice) {
  const std::size_t available = available_memory();
  if (bytes <= available) return;
  throw RunError(fmt::format("needs {:.3g} GiB of memory, {:.3g} GiB are free; {}",
                             double(bytes) / (1 << 30), double(available) / (1 << 30), advice));
}

}  // namespace opbench
