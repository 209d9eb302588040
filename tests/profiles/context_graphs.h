#pragma once

#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include <sstream>
#include <string>
#include <vector>

#include "harness/plan/case_files.h"
#include "profiles/network_context.h"

namespace opbench {

inline std::string text_of_context(const NetworkContext& context) {
  std::ostringstream out;
  write_context_file(out, context, {});
  return out.str();
}

/// The nodes as lines "relu(x_of_relu) -> relu". The case file must give the same graph.
inline std::vector<std::string> graph(const NetworkContext& context) {
  std::vector<std::string> nodes;
  for (const NeighbourNode& node : context.found.nodes) {
    nodes.push_back(fmt::format("{}({}) -> {}", node.spec.op->name, fmt::join(node.inputs, ", "),
                                fmt::join(node.outputs, ", ")));
  }
  const CaseFile file = parse_case_file(text_of_context(context), "near.yaml", {});
  EXPECT_EQ(file.contexts.size(), 1);
  EXPECT_EQ(file.contexts[0].steps[0].graph->nodes.size(), nodes.size());
  return nodes;
}

}  // namespace opbench
