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

/// State of the storage of a node's input.
enum class Arrival {
  stored,     ///< its storage is fixed
  zeros,      ///< without storage: any format is equally good
  parameter,  ///< without storage: the framework stores a parameter in any format when it loads it
};

/// A use of an operator in a graph, with the formats and dtypes planned so far around it.
struct NodeUse {
  const Node* node = nullptr;
  std::vector<TensorDesc> given;              ///< storage of the inputs; plain if not stored yet
  std::vector<Arrival> arrivals;              ///< of the inputs
  std::vector<std::optional<DType>> read_as;  ///< of the outputs; none: not read
};

/// Plan of a node: its kernel, and the conversions before and after it.
struct NodePlan {
  const Kernel* kernel = nullptr;
  Problem problem;                      ///< in the form that the kernel takes
  std::vector<TensorDesc> stored;       ///< the inputs before their conversions
  std::vector<ConversionPath> inputs;   ///< from `stored` to the kernel's form
  std::vector<ConversionPath> outputs;  ///< from the kernel's form to that of the readers
};

/// Plans nodes one by one. A plan depends only on the storage of the node's inputs.
class NodePlanner {
 public:
  /// Both arguments must outlive this object.
  NodePlanner(const Variants& variants, const FrameworkRules& rules)
      : rules_(rules), choice_(variants, rules), paths_(choice_) {}

  /// Errors: throws NoKernel "file:line: ..." if no kernel takes the node, Error if no kernel has a
  /// conversion.
  NodePlan plan(const NodeUse& use);

  /// Storage of a parameter that is cast to input `input` of `reader`, so that the cast writes the
  /// form that the reader takes; none: stored as it is.
  /// Errors: as above.
  std::optional<TensorDesc> stored_for(const NodeUse& reader, std::size_t input, DType dtype);

  /// Fills `fitted` with the node in `format`, for `kernel`. Returns the reason if the kernel
  /// refuses it.
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
