#pragma once

#include <map>
#include <string_view>
#include <utility>
#include <vector>

#include "harness/plan/context.h"
#include "harness/plan/graph.h"

namespace opbench {

/// Name of the tensor that says whether a scaled gradient was not finite; no tensor of a file can
/// have it.
inline constexpr std::string_view kOverflowFlag = "(overflow)";

/// Inserts the casts of a level of mixed precision before nodes; a tensor is cast once to each
/// dtype, as the framework's cache of casts keeps it.
class CastInsertion {
 public:
  explicit CastInsertion(Graph& graph) : graph_(graph) {}

  /// Replaces the floating inputs of a use of `op` that follow the case's dtype by their casts.
  /// O1: operators of the cube unit take fp16, those that need the range fp32. O2: all take fp16,
  /// batch_norm beside fp32 vectors too. Otherwise the widest of the inputs' dtypes.
  void apply(Precision::Level level, const Op& op, std::vector<std::size_t>& inputs);

  /// `tensor` as `dtype`: itself, or the result of a Cast.
  std::size_t to(std::size_t tensor, DType dtype);

 private:
  Graph& graph_;
  std::map<std::pair<std::size_t, DType>, std::size_t> done_;
};

}  // namespace opbench
