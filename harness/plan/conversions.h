#pragma once

#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "harness/plan/graph.h"
#include "harness/plan/kernel_choice.h"

namespace opbench {

/// Inserts TransData and Cast before and after the nodes of a graph that is being planned. Each is
/// a node with a kernel and a cause.
class Conversions {
 public:
  /// `kernels` are those of the graph's nodes, in their order; all outlive this.
  Conversions(Graph& graph, std::vector<const Kernel*>& kernels, KernelChoice& choice,
              const FrameworkRules& rules)
      : graph_(graph), kernels_(kernels), choice_(choice), rules_(rules) {}

  /// `tensor` in the dtype and storage of `wanted`, for `node`; itself where it is that already.
  /// Nodes that share conversions get the same one with grad_cast_once.
  /// Errors: throws Error if no kernel has the conversion.
  std::size_t convert(std::size_t tensor, const TensorDesc& wanted, const Node& node,
                      const std::string& cause);

  /// `tensor` as `dtype`, stored as it is: because the cube unit takes and gives fp16, or a kernel
  /// takes inputs of one dtype only.
  std::size_t cast(std::size_t tensor, DType dtype, const Node& node);

  /// `tensor` stored like `wanted`: in one go where the device has the pair, else through the plain
  /// format.
  std::size_t trans_data(std::size_t tensor, const TensorDesc& wanted, const Node& node,
                         const std::string& cause);

 private:
  Attrs trans_data_attrs(std::size_t tensor, const TensorDesc& wanted) const;
  bool has_pair(std::size_t tensor, const TensorDesc& wanted);
  std::size_t insert(const Op& op, std::size_t tensor, Attrs attrs, const Node& node,
                     const std::string& cause);
  const TensorDesc& desc(std::size_t tensor) const { return graph_.tensors[tensor].desc; }

  using Key = std::tuple<std::size_t, Format, DType, int>;

  Graph& graph_;
  std::vector<const Kernel*>& kernels_;
  KernelChoice& choice_;
  const FrameworkRules& rules_;
  std::map<Key, std::size_t> shared_;
  std::map<std::string, int> inserted_;  // so far, by node
};

}  // namespace opbench
