#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ops/op.h"
#include "tensor/fill.h"

namespace opbench {

/// Whose kernels a context takes where it names none: `npu`, `native` or `onednn`, under this key.
inline constexpr std::string_view kDefaultVariants = "default";

/// The variant that computes every node by its fp64 reference, rounded to the output's dtype: for
/// dumps to compare against. Runs only when asked for by name.
inline constexpr std::string_view kReferenceVariant = "reference";

/// A tensor that a context is given: an input, which comes anew with every call, or a parameter,
/// which a backward pass differentiates and an update changes.
struct ContextTensor {
  std::string name;
  Dims shape;
  std::optional<DType> dtype;    ///< none: the context's, or what the operator that takes it wants
  std::optional<Format> format;  ///< of the storage it arrives in; none: plain
  std::optional<Distribution> data;
  std::string origin;  ///< "file:line", for messages
};

/// One call of an operator. Tensors are named; a name is written once.
struct ContextNode {
  std::string name;  ///< "stage2.1.branch2.dw", unique
  const Op* op = nullptr;
  std::vector<std::string> inputs;
  /// As many as the operator has, or fewer: further ones have no name. "_": nobody reads it.
  std::vector<std::string> outputs;
  Attrs attrs;
  std::string origin;
};

/// A graph as written, with blocks included, repetitions unrolled and symbols replaced.
struct ContextGraph {
  std::vector<ContextTensor> inputs, parameters;
  std::vector<ContextNode> nodes;  ///< in any order
  std::vector<std::string> outputs;
};

/// What a backward pass starts from.
enum class Loss { sum, mean };

/// Mixed precision.
struct Precision {
  /// O0: as written. O1: conv2d, linear and matmul in fp16; batch_norm, softmax and cross_entropy
  /// in fp32. O2: all but batch_norm in fp16.
  enum class Level { O0, O1, O2 };
  enum class Scaling { none, fixed, dynamic };
  using Half = HalfMode;

  Level level = Level::O0;
  Scaling scaling = Scaling::none;
  double loss_scale = 1;  ///< what a dynamic scale starts from
  Half half = Half::ieee;
};

/// What a step's results are held to beside those of the first step of the same shapes.
struct ContextStandard {
  enum class Kind { mixed, prec, cosine };
  Kind kind = Kind::mixed;
  double limit = 0;  ///< `prec`: largest absolute difference; `cosine`: least cosine
};

/// One way to run a context. Steps with the same symbols and blocks share a graph.
struct ContextStep {
  std::string name;
  std::string summary;  ///< what the step changes, for the report
  /// The step whose settings it takes over and that it is compared with; -1: none.
  int after = -1;
  /// Not empty: why it cannot run here ("stream synchronisation exists on a device only").
  std::string not_applicable;
  /// Kernels by operator, tried in that order.
  std::map<std::string, std::vector<std::string>> variants;
  FrameworkRules rules;
  Precision precision;
  ContextStandard standard;
  std::int64_t samples =
      1;  ///< per call, such as the batch; times of steps are compared per sample
  std::shared_ptr<const ContextGraph> graph;
  std::string origin;
};

/// The parameter update that follows a backward pass: parameter - rate*gradient, by axpy.
struct ContextUpdate {
  double rate = 0;
};

/// A small network and the steps of its tuning.
struct Context {
  std::string name;
  std::vector<DType> dtypes;  ///< of the tensors that state none; one run each
  bool backward = false;
  Loss loss = Loss::sum;
  std::optional<ContextUpdate> update;
  std::optional<std::uint64_t> seed;
  std::vector<ContextStep> steps;  ///< at least one
  std::string symbols;             ///< "N=8", as the run has them, for the id
  std::string origin;
};

}  // namespace opbench
