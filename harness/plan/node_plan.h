#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "harness/plan/conversions.h"
#include "harness/plan/kernel_choice.h"
#include "tensor/error.h"

namespace opbench {

/// No kernel takes a node of the step.
class NoKernel : public Error {
 public:
  using Error::Error;
};

/// How an input of a node may be stored.
enum class Arrival {
  stored,     ///< as it is
  zeros,      ///< nobody has stored it yet, and any format is as good
  parameter,  ///< the same where the framework casts parameters when it loads them
};

/// A use of an operator in a graph, as its surroundings have planned it so far.
struct NodeUse {
  const Node* node = nullptr;
  std::vector<TensorDesc> given;  ///< how the inputs arrive; plain where nobody has stored them yet
  std::vector<Arrival> arrivals;  ///< of the inputs
  std::vector<std::optional<DType>> read_as;  ///< of the outputs; none: nobody reads it
};

/// How a node is planned: its kernel, and what stands before and after it.
struct NodePlan {
  const Kernel* kernel = nullptr;
  Problem problem;                      ///< as the kernel takes it
  std::vector<TensorDesc> stored;       ///< the inputs before their conversions
  std::vector<ConversionPath> inputs;   ///< from `stored` to what the kernel takes
  std::vector<ConversionPath> outputs;  ///< from what the kernel writes to what the next ones find
};

/// Plans nodes one by one, each from how its inputs arrive and from nothing else.
class NodePlanner {
 public:
  /// Both outlive this.
  NodePlanner(const Variants& variants, const FrameworkRules& rules)
      : rules_(rules), choice_(variants, rules), paths_(choice_) {}

  /// Errors: throws NoKernel "file:line: ..." if no kernel takes the node, Error if no kernel has a
  /// conversion.
  NodePlan plan(const NodeUse& use);

  /// How a parameter that is cast to input `input` of `reader` is stored, so that the cast gives
  /// what the reader takes; none: as it is. Errors: as above.
  std::optional<TensorDesc> stored_for(const NodeUse& reader, std::size_t input, DType dtype);

  /// The node in `format`, as `kernel` takes it, or why it does not.
  std::string fit(const Node& node, const Kernel& kernel, Format format, Problem& fitted);

  std::vector<const Kernel*> candidates(const Node& node) {
    return choice_.candidates(node.problem);
  }

 private:
  struct Fit;

  bool is_free(const Node& node, Arrival arrival) const;
  Fit fit_of(const NodeUse& use);
  std::string fit_formats(const NodeUse& use, Fit& fit);
  std::vector<TensorDesc> inputs_in(const Node& node, Format format, const Kernel& kernel) const;
  bool is_narrowed(const Node& node, const Kernel& kernel) const;
  void plan_input(const NodeUse& use, std::size_t i, const Fit& fit, NodePlan& plan);
  ConversionPath output_path(const NodeUse& use, std::size_t i, const NodePlan& plan);

  const FrameworkRules& rules_;
  KernelChoice choice_;
  ConversionPaths paths_;
};

}  // namespace opbench
