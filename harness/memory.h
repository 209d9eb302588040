#pragma once

#include <cstddef>
#include <span>

#include "harness/graph.h"

namespace opbench {

/// Memory this machine can still give, in bytes.
std::size_t available_memory();

/// Refuses a graph that does not fit into memory with the temporaries of all `selections`, which
/// are prepared at once. Errors: throws RunError that says what to do.
void require_memory(const Graph& graph, std::span<const Selection* const> selections, int threads);

}  // namespace opbench
