#pragma once

#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "harness/plan/graph.h"
#include "harness/plan/kernel_choice.h"

namespace opbench {

/// A TransData or a Cast to insert before or after a node.
struct PlannedConversion {
  Problem problem;
  const Kernel* kernel = nullptr;
  std::string cause;

  const TensorDesc& result() const { return problem.outputs[0]; }
};

/// Conversions in order, from the present to the required state of a tensor.
using ConversionPath = std::vector<PlannedConversion>;

/// Finds the conversions around the nodes of a graph. Each has a kernel and a cause.
class ConversionPaths {
 public:
  explicit ConversionPaths(KernelChoice& choice) : choice_(choice) {}

  /// From `given` to the dtype and storage of `target`, for `node`. Empty if they are equal.
  /// Errors: throws Error if no kernel has the conversion.
  ConversionPath convert(const TensorDesc& given, const TensorDesc& target, const Node& node,
                         const std::string& cause);

  /// `given` as `dtype`, in its present storage: the cube unit takes and writes fp16, or a kernel
  /// takes inputs of one dtype only.
  PlannedConversion cast(const TensorDesc& given, DType dtype, const Node& node);

  /// `given` stored like `target`: by one conversion if the device has the pair, else through the
  /// plain format.
  ConversionPath trans_data(const TensorDesc& given, const TensorDesc& target, const Node& node,
                            const std::string& cause);

 private:
  bool has_pair(const TensorDesc& given, const TensorDesc& target);
  PlannedConversion planned(const Op& op, const TensorDesc& given, Attrs attrs, const Node& node,
                            std::string cause);

  KernelChoice& choice_;
};

/// Inserts conversions as nodes into a graph that is being planned.
class ConversionInsertion {
 public:
  /// `kernels` are those of the graph's nodes, in their order. All arguments must outlive this
  /// object.
  ConversionInsertion(Graph& graph, std::vector<const Kernel*>& kernels,
                      const FrameworkRules& rules)
      : graph_(graph), kernels_(kernels), rules_(rules) {}

  /// Appends the conversions of `tensor`, for an input of `node`. Returns the output of the last
  /// conversion. With grad_cast_once, nodes that share conversions get the same one.
  std::size_t before(const Node& node, std::size_t tensor, const ConversionPath& path);
  /// Like `before`, for an output of `node`.
  std::size_t after(const Node& node, std::size_t tensor, const ConversionPath& path);

 private:
  std::size_t insert(const PlannedConversion& conversion, std::size_t tensor, const Node& node);

  using Key = std::tuple<std::size_t, Format, DType, int>;

  Graph& graph_;
  std::vector<const Kernel*>& kernels_;
  const FrameworkRules& rules_;
  std::map<Key, std::size_t> shared_;
  std::map<std::string, int> inserted_;  // so far, by node
};

}  // namespace opbench
