#include <fmt/format.h>

#include <set>
#include <unordered_map>
#include <unordered_set>

#include "harness/plan/context_template.h"
#include "tensor/error.h"
#include "text/fitted.h"

namespace opbench {
namespace {

/// The writer of each tensor, and its readers.
class Names {
 public:
  Names(const GraphTemplate& graph, bool is_block) : graph_(graph), is_block_(is_block) {}

  void check() {
    for (const TensorTemplate& tensor : graph_.inputs) write(tensor.name, tensor.origin);
    for (const TensorTemplate& tensor : graph_.parameters) write(tensor.name, tensor.origin);
    given_ = writers_;
    for (const NodeTemplate& node : graph_.nodes) {
      for (const std::string& output : node.outputs) {
        if (output != "_") write(output, node.origin);
      }
    }
    for (const NodeTemplate& node : graph_.nodes) {
      for (const std::string& input : node.inputs) {
        if (input != "_" || node.op == nullptr) read(input, node.origin);
      }
    }
    check_outputs();
    check_given(graph_.inputs, "input");
    check_given(graph_.parameters, "parameter");
  }

 private:
  void write(const std::string& name, const std::string& origin) {
    if (name == "_") throw Error(origin, "'_' stands for an unused result; it cannot be a tensor");
    const auto [first, is_new] = writers_.emplace(name, origin);
    if (!is_new) {
      throw Error(origin,
                  fmt::format("tensor '{}' is written twice, first at {}", name, first->second));
    }
  }

  void read(const std::string& name, const std::string& origin) {
    if (!writers_.contains(name)) {
      throw Error(origin, fmt::format("unknown tensor '{}'{}", name, nearby(name)));
    }
    read_.insert(name);
  }

  void check_outputs() {
    std::set<std::string> seen;
    for (const std::string& output : graph_.outputs) {
      if (!writers_.contains(output)) {
        throw Error(graph_.outputs_origin,
                    fmt::format("output '{}' is written by no node{}", output, nearby(output)));
      }
      if (!is_block_ && given_.contains(output)) {
        throw Error(
            graph_.outputs_origin,
            fmt::format("output '{}' is given to the context, not written by a node", output));
      }
      if (!seen.insert(output).second && !is_block_) {
        throw Error(graph_.outputs_origin, fmt::format("output '{}' occurs twice", output));
      }
      read_.insert(output);
    }
  }

  void check_given(const std::vector<TensorTemplate>& tensors, std::string_view what) const {
    for (const TensorTemplate& tensor : tensors) {
      if (!read_.contains(tensor.name)) {
        throw Error(tensor.origin, fmt::format("{} '{}' is used by no node", what, tensor.name));
      }
    }
  }

  // Lists the known names only if the list is short.
  std::string nearby(const std::string& name) const {
    constexpr std::size_t kMostListed = 20, kMostCompared = 10000;
    std::vector<std::string> names;
    for (const auto& [candidate, unused] : writers_) names.push_back(candidate);
    std::sort(names.begin(), names.end());
    if (names.size() <= kMostListed) return names.empty() ? "" : suggestion(name, names);
    names.resize(std::min(names.size(), kMostCompared));
    const std::string near = nearest(name, names);
    return near.empty() ? "" : fmt::format("; did you mean '{}'?", near);
  }

  const GraphTemplate& graph_;
  const bool is_block_;
  std::unordered_map<std::string, std::string> writers_, given_;  // name -> place in the file
  std::unordered_set<std::string> read_;
};

void name_nodes(std::vector<NodeTemplate>& nodes) {
  std::unordered_map<std::string, std::string> taken;  // name -> place in the file
  for (const NodeTemplate& node : nodes) {
    if (node.name.empty()) continue;
    const auto [first, is_new] = taken.emplace(node.name, node.origin);
    if (!is_new) {
      throw Error(node.origin, fmt::format("node name '{}' occurs twice, first at {}", node.name,
                                           first->second));
    }
  }
  std::unordered_map<std::string_view, std::size_t> next;
  for (NodeTemplate& node : nodes) {
    if (!node.name.empty()) continue;
    std::size_t& number = next[node.op->name];
    do {
      node.name =
          number == 0 ? std::string(node.op->name) : fmt::format("{}{}", node.op->name, number);
      ++number;
    } while (!taken.emplace(node.name, node.origin).second);
  }
}

void check_count(const NodeTemplate& node, std::string_view what, std::size_t wanted,
                 std::size_t found) {
  if (wanted == found) return;
  throw Error(node.origin,
              fmt::format("block '{}' has {}, found {}", node.block, counted(wanted, what), found));
}

}  // namespace

void GraphReader::finish(GraphTemplate& graph, bool is_block) {
  const std::string_view what = is_block ? "block" : "context";
  if (graph.nodes.empty()) throw Error(graph.origin, fmt::format("the {} has no 'nodes'", what));
  if (graph.outputs.empty())
    throw Error(graph.origin, fmt::format("the {} has no 'outputs'", what));
  name_nodes(graph.nodes);
  Names(graph, is_block).check();
}

void check_includes(const GraphTemplate& graph, const Blocks& blocks) {
  for (const NodeTemplate& node : graph.nodes) {
    if (node.op != nullptr) continue;
    const auto block = blocks.find(node.block);
    if (block == blocks.end()) {
      std::vector<std::string> names;
      for (const auto& [name, unused] : blocks) names.push_back(name);
      throw Error(node.origin, fmt::format("unknown block '{}'{}", node.block,
                                           names.empty() ? "; the file has none"
                                                         : suggestion(node.block, names)));
    }
    check_count(node, "input", block->second.graph.inputs.size(), node.inputs.size());
    check_count(node, "output", block->second.graph.outputs.size(), node.outputs.size());
  }
}

}  // namespace opbench
