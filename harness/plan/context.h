#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "harness/plan/published_time.h"
#include "ops/op.h"
#include "tensor/fill.h"

namespace opbench {

/// Key of `variants` that selects the provider of operators without an entry: `npu`, `native` or
/// `onednn`.
inline constexpr std::string_view kDefaultVariants = "default";

/// Variant that computes every node by its fp64 reference, rounded to the output's dtype. It is for
/// dumps to compare against, and runs only if named.
inline constexpr std::string_view kReferenceVariant = "reference";

/// A tensor that is given to a context. An input has new values in every call. A parameter is
/// differentiated by a backward pass and changed by an update.
struct ContextTensor {
  std::string name;
  Dims shape;
  std::optional<DType> dtype;    ///< none: the context's, or that of the operator that reads it
  std::optional<Format> format;  ///< of the storage in which it arrives; none: plain
  std::optional<Distribution> data;
  std::string origin;  ///< "file:line", for messages
  /// False for constants, such as a mask or the angles of a rotation: no gradient is computed.
  bool takes_gradient = true;
};

/// One call of an operator. Tensors are named. A name is written once.
struct ContextNode {
  std::string name;  ///< "stage2.1.branch2.dw", unique
  const Op* op = nullptr;
  std::vector<std::string> inputs;  ///< "_": an optional input that is not given
  /// At most as many as the operator has: further outputs have no name. "_": an output without a
  /// reader.
  std::vector<std::string> outputs;
  Attrs attrs;
  std::string origin;
};

/// A written graph with blocks included, repetitions unrolled and symbols replaced.
struct ContextGraph {
  std::vector<ContextTensor> inputs, parameters;
  std::vector<ContextNode> nodes;  ///< in any order
  std::vector<std::string> outputs;
};

/// The scalar that a backward pass starts from.
enum class Loss { sum, mean };

/// Mixed precision.
struct Precision {
  /// O0: dtypes as written. O1: conv2d, linear and matmul in fp16; batch_norm, softmax and
  /// cross_entropy in fp32. O2: all but batch_norm in fp16.
  enum class Level { O0, O1, O2 };
  enum class Scaling { none, fixed, dynamic };
  using Half = HalfMode;

  Level level = Level::O0;
  Scaling scaling = Scaling::none;
  double loss_scale = 1;  ///< initial value of a dynamic scale
  Half half = Half::ieee;
  std::vector<std::string> keep_fp32;  ///< operators that take fp32 at O1 and O2
};

/// Criterion for a step's results against those of the first step of the same shapes.
struct ContextStandard {
  enum class Kind { mixed, prec, cosine };
  Kind kind = Kind::mixed;
  double limit = 0;  ///< `prec`: largest absolute difference; `cosine`: least cosine
};

/// One setting of a context. Steps with the same symbols and blocks share a graph.
struct ContextStep {
  std::string name;
  std::string summary;  ///< the step's changes, for the report
  /// The step whose settings this step starts from and is compared with; -1: no step.
  int after = -1;
  /// The reason why the step cannot run here ("stream synchronisation exists on a device only");
  /// may be empty.
  std::string not_applicable;
  /// Kernels by operator, in the order in which they are tried.
  std::map<std::string, std::vector<std::string>> variants;
  FrameworkRules rules;
  Precision precision;
  ContextStandard standard;
  std::int64_t samples =
      1;  ///< per call, such as the batch size; times of steps are compared per sample
  PublishedTime published;
  std::shared_ptr<const ContextGraph> graph;
  std::string origin;
};

/// Parameter update that follows a backward pass: parameter - rate*gradient, by axpy.
struct ContextUpdate {
  double rate = 0;
};

/// A small network, and the steps of its tuning.
struct Context {
  std::string name;
  std::vector<DType> dtypes;  ///< of tensors that state no dtype; one run each
  bool backward = false;
  Loss loss = Loss::sum;
  std::optional<ContextUpdate> update;
  std::optional<std::uint64_t> seed;
  std::vector<ContextStep> steps;  ///< at least one
  std::string symbols;             ///< "N=8", as the run has set them, for the id
  std::string origin;
};

}  // namespace opbench
