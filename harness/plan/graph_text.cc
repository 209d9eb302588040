#include "harness/plan/graph_text.h"

#include <fmt/format.h>

#include <iterator>

namespace opbench {
namespace {

void add_tensors(const std::vector<std::size_t>& numbers, const std::vector<TensorDesc>& descs,
                 fmt::memory_buffer& text) {
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    fmt::format_to(std::back_inserter(text), "{} {}\n", numbers[i], to_string(descs[i]));
  }
}

}  // namespace

std::string text_of(const Graph& graph, std::span<const Kernel* const> kernels) {
  fmt::memory_buffer text;
  for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
    const Node& node = graph.nodes[i];
    const Problem& problem = node.problem;
    fmt::format_to(std::back_inserter(text), "{}\n{}\n{}\n", node.name, problem.op->name,
                   kernels[i]->key());
    add_tensors(node.inputs, problem.inputs, text);
    add_tensors(node.outputs, problem.outputs, text);
    for (const auto& [name, value] : problem.attrs.values()) {
      fmt::format_to(std::back_inserter(text), "{} {}\n", name, to_string(value));
    }
    if (node.unless != Node::kNone) {
      fmt::format_to(std::back_inserter(text), "unless {}\n", node.unless);
    }
  }
  return fmt::to_string(text);
}

}  // namespace opbench
