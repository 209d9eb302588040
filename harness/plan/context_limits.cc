#include "harness/plan/context_limits.h"

#include <fmt/format.h>

#include "tensor/error.h"

namespace opbench {

void ContextBudget::spend(std::size_t bytes, const std::string& origin) {
  spent_ += static_cast<std::int64_t>(bytes);
  if (spent_ <= limits_.bytes) return;
  throw Error(fmt::format("{}: the contexts of the file, unrolled, take more than {} MiB", origin,
                          limits_.bytes >> 20));
}

void ContextBudget::require_nodes(std::size_t nodes, const std::string& origin) const {
  if (static_cast<std::int64_t>(nodes) <= limits_.nodes) return;
  throw Error(fmt::format("{}: the graph has more than {} nodes", origin, limits_.nodes));
}

}  // namespace opbench
