#include "harness/plan/context_order.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <functional>
#include <queue>
#include <unordered_map>
#include <unordered_set>

#include "tensor/error.h"

namespace opbench {
namespace {

// Writer of an input or a parameter: it is given, no node writes it.
constexpr std::size_t kGiven = static_cast<std::size_t>(-1);

class Ordering {
 public:
  explicit Ordering(ContextGraph& graph) : graph_(graph) {
    for (const ContextTensor& tensor : graph.inputs) write(tensor.name, kGiven, tensor.origin);
    for (const ContextTensor& tensor : graph.parameters) write(tensor.name, kGiven, tensor.origin);
    std::unordered_map<std::string_view, std::string_view> names;  // of nodes -> place in the file
    for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
      const ContextNode& node = graph.nodes[i];
      const auto [first, is_new] = names.emplace(node.name, node.origin);
      if (!is_new) {
        throw Error(node.origin, fmt::format("node name '{}' occurs twice, first at {}", node.name,
                                             first->second));
      }
      for (const std::string& output : node.outputs) {
        if (output != "_") write(output, i, node.origin);
      }
    }
    find_edges();
  }

  void check_outputs(const std::string& origin) const {
    std::unordered_set<std::string_view> seen;
    for (const std::string& output : graph_.outputs) {
      if (writer_.at(output) == kGiven) {
        throw Error(
            origin,
            fmt::format("output '{}' is given to the context, not written by a node", output));
      }
      if (!seen.insert(output).second) {
        throw Error(origin, fmt::format("two outputs are the same tensor, '{}'", output));
      }
    }
  }

  void sort() {
    std::vector<std::size_t> missing(sources_.size());
    std::vector<std::vector<std::size_t>> readers(sources_.size());
    std::priority_queue<std::size_t, std::vector<std::size_t>, std::greater<>> ready;
    for (std::size_t i = 0; i < sources_.size(); ++i) {
      missing[i] = sources_[i].size();
      for (const std::size_t source : sources_[i]) readers[source].push_back(i);
      if (missing[i] == 0) ready.push(i);
    }
    std::vector<std::size_t> order;
    while (!ready.empty()) {
      order.push_back(ready.top());
      ready.pop();
      for (const std::size_t reader : readers[order.back()]) {
        if (--missing[reader] == 0) ready.push(reader);
      }
    }
    if (order.size() < sources_.size()) fail_with_cycle(missing);
    order_ = std::move(order);
  }

  void check_used() const {
    std::vector<bool> is_needed(sources_.size());
    for (const std::string& output : graph_.outputs) is_needed[writer_.at(output)] = true;
    for (auto node = order_.rbegin(); node != order_.rend(); ++node) {
      if (!is_needed[*node]) continue;
      for (const std::size_t source : sources_[*node]) is_needed[source] = true;
    }
    for (std::size_t i = 0; i < is_needed.size(); ++i) {
      if (is_needed[i]) continue;
      throw Error(graph_.nodes[i].origin,
                  fmt::format("node '{}' is not used: name its result in outputs or remove it",
                              graph_.nodes[i].name));
    }
    std::unordered_set<std::string_view> read;
    for (const ContextNode& node : graph_.nodes)
      read.insert(node.inputs.begin(), node.inputs.end());
    check_read(graph_.inputs, read, "input");
    check_read(graph_.parameters, read, "parameter");
  }

  void apply() {
    std::vector<ContextNode> nodes;
    nodes.reserve(order_.size());
    for (const std::size_t i : order_) nodes.push_back(std::move(graph_.nodes[i]));
    graph_.nodes = std::move(nodes);
  }

 private:
  void write(const std::string& name, std::size_t node, const std::string& origin) {
    if (!writer_.emplace(name, node).second) {
      throw Error(origin, fmt::format("tensor '{}' is written twice", name));
    }
  }

  void find_edges() {
    for (const ContextNode& node : graph_.nodes) {
      std::vector<std::size_t>& sources = sources_.emplace_back();
      for (const std::string& input : node.inputs) {
        if (input == "_") continue;
        const auto writer = writer_.find(input);
        if (writer == writer_.end()) {
          throw Error(node.origin,
                      fmt::format("{}: tensor '{}' is written by no node", node.name, input));
        }
        if (writer->second != kGiven) sources.push_back(writer->second);
      }
    }
  }

  // Each waiting node has a source that waits too, so the chain of sources ends in a cycle.
  [[noreturn]] void fail_with_cycle(const std::vector<std::size_t>& missing) const {
    const auto waits = [&](std::size_t node) { return missing[node] > 0; };
    std::size_t node = 0;
    while (!waits(node)) ++node;
    std::vector<std::size_t> path;
    std::unordered_set<std::size_t> seen;
    while (seen.insert(node).second) {
      path.push_back(node);
      node = *std::find_if(sources_[node].begin(), sources_[node].end(), waits);
    }
    path.erase(path.begin(), std::find(path.begin(), path.end(), node));
    std::reverse(path.begin(), path.end());  // from a writer to its readers
    std::rotate(path.begin(), std::min_element(path.begin(), path.end()), path.end());
    constexpr std::size_t kMostNamed = 8;
    std::vector<std::string_view> names;
    for (const std::size_t i : path) {
      if (names.size() < kMostNamed) names.push_back(graph_.nodes[i].name);
    }
    if (path.size() > kMostNamed) names.push_back("...");
    names.push_back(graph_.nodes[path.front()].name);
    throw Error(graph_.nodes[path.front()].origin,
                fmt::format("nodes depend on each other: {}", fmt::join(names, " > ")));
  }

  static void check_read(const std::vector<ContextTensor>& tensors,
                         const std::unordered_set<std::string_view>& read, std::string_view what) {
    for (const ContextTensor& tensor : tensors) {
      if (read.contains(tensor.name)) continue;
      throw Error(tensor.origin, fmt::format("{} '{}' is used by no node", what, tensor.name));
    }
  }

  ContextGraph& graph_;
  std::unordered_map<std::string_view, std::size_t> writer_;  // of a tensor
  std::vector<std::vector<std::size_t>> sources_;             // nodes that a node reads from
  std::vector<std::size_t> order_;
};

}  // namespace

void order_graph(ContextGraph& graph, const std::string& outputs_origin) {
  Ordering ordering(graph);
  ordering.check_outputs(outputs_origin);
  ordering.sort();
  ordering.check_used();
  ordering.apply();
}

}  // namespace opbench
