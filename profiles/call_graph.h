#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "profiles/hot_spots.h"
#include "profiles/profiled_case.h"

namespace opbench {

/// An operator of a network as recorded, and its case, if there is one.
struct NetworkOperator {
  ProfiledOperator recorded;
  BuiltCase built;
  Problem problem;  ///< of the case
};

/// A call of an operator; calls are in the order in which they ran.
struct NetworkCall {
  const NetworkOperator* op = nullptr;
  std::string name;
  SourceRow at;
};

/// The tensor that an input of a call reads.
struct TensorLink {
  static constexpr std::size_t kOutside = SIZE_MAX;
  std::size_t call = kOutside;  ///< the call that made the tensor
  std::size_t tensor = 0;       ///< the place among its outputs, or among the tensors from outside
  /// Calls that convert the format between the tensor and the input; links skip them.
  std::vector<std::size_t> conversions;
  bool is_ambiguous = false;  ///< the input could be another tensor too

  bool is_same_tensor(const TensorLink& other) const {
    return call == other.call && tensor == other.tensor;
  }
};

/// Links from the inputs of calls to the outputs that they read.
struct CallLinks {
  std::vector<std::vector<TensorLink>> inputs;  ///< by call and recorded input
  /// Tensors from outside, before any conversion.
  std::vector<const ProfiledTensor*> outside;
};

/// Infers the links between calls, since profiles do not record the identity of tensors. An input
/// is linked to the latest earlier output of the same dtype, format, storage and logical shape, as
/// far as they are known. Inputs of one call are different tensors. Too many tensors of one element
/// are alike, so they are linked only to the previous call. Weights come from outside, converted or
/// not, each to a single reader. Calls with more than 64 tensors are not linked. The calls outlive
/// the result.
CallLinks link_calls(const std::vector<NetworkCall>& calls);

/// True if this input of the operator is a weight: a network learns it, no call makes it.
bool is_weight(const Op& op, std::size_t input);

/// An input of a node.
struct CallSource {
  TensorLink link;  ///< `tensor` is kOutside if no other input can be the same tensor: an index
  std::size_t node = TensorLink::kOutside;  ///< the call that makes it, if that is a node
  std::size_t output = 0;                   ///< an output of that node's operator
  std::vector<std::size_t> casts;           ///< casts that the link skips
};

/// A call as an operator of opbench.
struct CallNode {
  Case spec;
  Problem problem;
  std::vector<CallSource> inputs;  ///< by input of the operator
};

/// Calls as a graph of operators of opbench. Each index comes from outside, for a single reader.
struct CallGraph {
  CallLinks links;
  std::vector<std::optional<CallNode>> nodes;  ///< by call; empty: a conversion, or no case
  /// Links between tensors of different shapes or dtypes, by the call that reads.
  std::vector<std::pair<std::size_t, std::string>> refused;
};

/// Skips casts to fp16 and back around operators of the cube unit, as `allow_fp32_to_fp16` of a
/// context makes them: the operator becomes an fp32 operator. `centre` stays as it is.
CallGraph graph_of(const std::vector<NetworkCall>& calls, std::size_t centre);

/// "Relu (kernel_details.csv:6)"
std::string described(const NetworkCall& call);

}  // namespace opbench
