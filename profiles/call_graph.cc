#include "profiles/call_graph.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "tensor/error.h"

namespace opbench {
namespace {

// Only indices have to be inside an axis; numbers, which may also be floating, do not.
bool is_index(const Op& op, std::size_t input) {
  const std::vector<DType>& dtypes = op.input(input).dtypes;
  return !dtypes.empty() && (dtypes[0] == DType::int64 || dtypes[0] == DType::int32) &&
         std::none_of(dtypes.begin(), dtypes.end(), is_floating);
}

// True for a mean or a deviation that a norm kept. No other vector of that length can replace it:
// the gradient of a bias would give infinite gradients.
bool is_statistic(const Op& op, std::size_t input) {
  constexpr std::string_view kNames[] = {"save_mean", "save_invstd", "mean", "rstd"};
  return op.inputs.size() > 1 &&
         std::find(std::begin(kNames), std::end(kNames), op.input(input).name) != std::end(kNames);
}

class GraphBuilder {
 public:
  GraphBuilder(const std::vector<NetworkCall>& calls, std::size_t centre)
      : calls_(calls), centre_(centre) {}

  CallGraph build() {
    graph_.links = link_calls(calls_);
    graph_.nodes.resize(calls_.size());
    for (std::size_t i = 0; i < calls_.size(); ++i) add(i);
    for (std::size_t i = 0; i < calls_.size(); ++i) {
      if (graph_.nodes[i] && graph_.nodes[i]->problem.op->context.uses_cube) see_through_casts(i);
    }
    for (std::size_t i = 0; i < calls_.size(); ++i) {
      if (graph_.nodes[i]) refuse_others(i);
    }
    return std::move(graph_);
  }

 private:
  void add(std::size_t call) {
    const NetworkOperator& op = *calls_[call].op;
    if (!op.built.spec || is_conversion(op.recorded)) return;
    CallNode node{*op.built.spec, op.problem, {}};
    for (std::size_t i = 0; i < op.built.inputs.size(); ++i) {
      node.inputs.push_back(source_of(call, *node.problem.op, i));
    }
    graph_.nodes[call] = std::move(node);
  }

  CallSource source_of(std::size_t call, const Op& op, std::size_t input) const {
    CallSource outside;
    outside.link.tensor = TensorLink::kOutside;
    const auto& place = calls_[call].op->built.inputs[input];
    const std::vector<TensorLink>& links = graph_.links.inputs[call];
    if (is_index(op, input) || !place || *place >= links.size()) return outside;
    CallSource source;
    source.link = links[*place];
    find_node(source);
    const bool is_other = is_statistic(op, input) && !is_made_as(source, op.input(input).name);
    return is_other ? outside : source;
  }

  void find_node(CallSource& source) const {
    const TensorLink& link = source.link;
    if (link.call == TensorLink::kOutside || !graph_.nodes[link.call]) return;
    const auto& outputs = calls_[link.call].op->built.outputs;
    const auto found = std::find(outputs.begin(), outputs.end(), std::optional(link.tensor));
    if (found == outputs.end()) return;
    source.node = link.call;
    source.output = static_cast<std::size_t>(found - outputs.begin());
  }

  bool is_made_as(const CallSource& source, std::string_view name) const {
    if (source.node == TensorLink::kOutside) return false;
    const Problem& maker = graph_.nodes[source.node]->problem;
    return maker.op->output_name(maker, source.output) == name;
  }

  bool is_cast(std::size_t call, DType from, DType to) const {
    if (call == TensorLink::kOutside || call == centre_) return false;
    const std::optional<CallNode>& node = graph_.nodes[call];
    return node && node->problem.op->context.conversion == Conversion::dtype &&
           node->problem.inputs[0].dtype == from && node->problem.outputs[0].dtype == to;
  }

  std::vector<CallSource*> readers(std::size_t call) {
    std::vector<CallSource*> all;
    for (std::size_t i = call; i < calls_.size(); ++i) {
      if (!graph_.nodes[i]) continue;
      for (CallSource& source : graph_.nodes[i]->inputs) {
        if (source.node == call) all.push_back(&source);
      }
    }
    return all;
  }

  // True if each fp16 input was cast from fp32, and each result is cast to fp32.
  bool is_fp32_around(std::size_t call) const {
    const NetworkOperator& op = *calls_[call].op;
    bool is_any = false;
    for (std::size_t i = 0; i < op.built.inputs.size(); ++i) {
      const auto place = op.built.inputs[i];
      if (!place || *place >= op.recorded.inputs.size()) continue;
      if (op.recorded.inputs[*place].dtype != DType::fp16) continue;
      if (!is_cast(graph_.nodes[call]->inputs[i].node, DType::fp32, DType::fp16)) return false;
      is_any = true;
    }
    if (!is_any || op.recorded.outputs.empty()) return false;
    if (op.recorded.outputs[0].dtype == DType::fp32) return true;
    for (std::size_t i = call; i < calls_.size(); ++i) {
      for (const TensorLink& link : graph_.links.inputs[i]) {
        if (link.call == call && !is_cast(i, DType::fp16, DType::fp32)) return false;
      }
    }
    return true;
  }

  void see_through_casts(std::size_t call) {
    if (!is_fp32_around(call)) return;
    Case wanted = graph_.nodes[call]->spec;
    wanted.dtype = DType::fp32;
    for (CaseInput& input : wanted.inputs) input.dtype.reset();
    CallNode& node = *graph_.nodes[call];
    try {
      node.problem = problem_of(wanted);
    } catch (const Error&) {
      return;
    }
    node.spec = std::move(wanted);
    for (CallSource& source : node.inputs) {
      if (is_cast(source.node, DType::fp32, DType::fp16)) pass(source, source.node);
    }
    for (std::size_t i = call; i < calls_.size(); ++i) {
      if (!is_cast(i, DType::fp16, DType::fp32)) continue;
      if (graph_.nodes[i]->inputs[0].node != call) continue;
      for (CallSource* reader : readers(i)) pass(*reader, i);
    }
  }

  // Links the reader to the input of the cast instead of its output.
  void pass(CallSource& source, std::size_t cast) const {
    CallSource before = graph_.nodes[cast]->inputs[0];
    before.casts.insert(before.casts.end(), source.casts.begin(), source.casts.end());
    before.casts.push_back(cast);
    before.link.is_ambiguous |= source.link.is_ambiguous;
    const auto& conversions = source.link.conversions;
    before.link.conversions.insert(before.link.conversions.end(), conversions.begin(),
                                   conversions.end());
    source = std::move(before);
  }

  // Removes links between tensors of different shapes or dtypes.
  void refuse_others(std::size_t call) {
    CallNode& node = *graph_.nodes[call];
    for (std::size_t i = 0; i < node.inputs.size(); ++i) {
      CallSource& source = node.inputs[i];
      if (source.node == TensorLink::kOutside) continue;
      const TensorDesc& made = graph_.nodes[source.node]->problem.outputs[source.output];
      const TensorDesc& taken = node.problem.inputs[i];
      if (made.shape == taken.shape && made.dtype == taken.dtype) continue;
      graph_.refused.emplace_back(
          call,
          fmt::format("{} takes {} {} where {} makes {} {}", described(calls_[call]),
                      name(taken.dtype), to_string(taken.shape), described(calls_[source.node]),
                      name(made.dtype), to_string(made.shape)));
      source.node = TensorLink::kOutside;
    }
  }

  const std::vector<NetworkCall>& calls_;
  std::size_t centre_;
  CallGraph graph_;
};

}  // namespace

std::string described(const NetworkCall& call) {
  return fmt::format("{} ({}:{})", call.op->recorded.type,
                     std::filesystem::path(call.at.file).filename().string(), call.at.line);
}

CallGraph graph_of(const std::vector<NetworkCall>& calls, std::size_t centre) {
  return GraphBuilder(calls, centre).build();
}

}  // namespace opbench
