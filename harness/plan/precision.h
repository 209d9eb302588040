#pragma once

#include <map>
#include <string_view>
#include <utility>
#include <vector>

#include "harness/plan/context.h"
#include "harness/plan/graph.h"

namespace opbench {

/// Tensor that is set if a scaled gradient is not finite. A file cannot use this name.
inline constexpr std::string_view kOverflowFlag = "(overflow)";

/// Inserts the casts of a mixed-precision level before nodes. A tensor is cast once to each dtype,
/// like in the framework's cache of casts.
class CastInsertion {
 public:
  explicit CastInsertion(Graph& graph) : graph_(graph) {}

  /// Replaces the floating inputs of a use of `op` that follow the case's dtype by their casts. O1:
  /// operators of the cube unit take fp16, operators that need the range take fp32. O2: all take
  /// fp16; batch_norm takes fp32 vectors in addition. Others take the widest of the inputs' dtypes.
  /// Both: operators of `keep_fp32` take fp32.
  void apply(const Precision& precision, const Op& op, std::vector<std::size_t>& inputs);

  /// `tensor` as `dtype`: the tensor itself, or the output of a Cast.
  std::size_t to(std::size_t tensor, DType dtype);

 private:
  Graph& graph_;
  std::map<std::pair<std::size_t, DType>, std::size_t> done_;
};

}  // namespace opbench
