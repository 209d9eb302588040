#pragma once

#include <string_view>

#include "harness/graph.h"

namespace opbench {

/// The variant that computes every node by its fp64 reference, rounded to the output's dtype: for
/// dumps to compare against. Runs only when asked for by name.
inline constexpr std::string_view kReferenceVariant = "reference";
Selection select_reference(const Graph& graph);

/// Blocks of `desc` by the reference: calls `body(range, expected)` in parallel for every block,
/// `expected` in fp64.
void for_each_expected_block(const Reference& reference, std::size_t output, const TensorDesc& desc,
                             const std::function<void(std::int64_t block, ElementRange range,
                                                      std::span<const double> expected)>& body);

}  // namespace opbench
