#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "profiles/hot_spots.h"
#include "profiles/profiled_case.h"

namespace opbench {

/// An operator of a network: what was recorded of it, and the case of ours, if it is one.
struct NetworkOperator {
  ProfiledOperator recorded;
  BuiltCase built;
  Problem problem;  ///< of the case
};

/// One call of it, among others in the order in which they ran.
struct NetworkCall {
  const NetworkOperator* op = nullptr;
  std::string name;
  SourceRow at;
};

/// Which tensor an input of a call is.
struct TensorLink {
  static constexpr std::size_t kOutside = SIZE_MAX;
  std::size_t call = kOutside;  ///< that made it
  std::size_t tensor = 0;       ///< which of its outputs; of those from outside, which of them
  /// Conversions of the format on the way, as calls; they are seen through.
  std::vector<std::size_t> conversions;
  bool is_ambiguous = false;  ///< another tensor could be it as well

  bool is_same_tensor(const TensorLink& other) const {
    return call == other.call && tensor == other.tensor;
  }
};

/// Who reads whose results.
struct CallLinks {
  std::vector<std::vector<TensorLink>> inputs;  ///< by call and recorded input
  /// How tensors from outside arrive, before any conversion.
  std::vector<const ProfiledTensor*> outside;
};

/// Profiles do not say which tensors are the same, so links are inferred. An input is the latest
/// earlier output of the same dtype, format, storage and logical shape, as far as they are known;
/// inputs of one call are different tensors. Tensors of one element, of which there are too many
/// alike, are only linked to the call before. Weights come from outside, converted or not, each
/// for its own. Calls of very many tensors are not linked. The calls outlive the result.
CallLinks link_calls(const std::vector<NetworkCall>& calls);

/// True where an operator of ours takes a weight: what a network learns, not what it passes on.
bool is_weight(const Op& op, std::size_t input);

/// An input of a node.
struct CallSource {
  TensorLink link;  ///< `tensor` is kOutside where no other input is the same: an index
  std::size_t node = TensorLink::kOutside;  ///< the call that makes it, where that is a node
  std::size_t output = 0;                   ///< of that operator of ours
  std::vector<std::size_t> casts;           ///< calls that were seen through
};

/// A call as an operator of ours.
struct CallNode {
  Case spec;
  Problem problem;
  std::vector<CallSource> inputs;  ///< by inputs of the operator
};

/// Calls as a graph of operators of ours. Indices come from outside, each for its own.
struct CallGraph {
  CallLinks links;
  std::vector<std::optional<CallNode>> nodes;  ///< by call; none: a conversion, or no case
  /// Links between tensors that differ for us, by the call that reads.
  std::vector<std::pair<std::size_t, std::string>> refused;
};

/// Casts to fp16 and back around operators of the cube unit are seen through, as
/// `allow_fp32_to_fp16` of a context makes them: then the operator is one in fp32. `centre` stays.
CallGraph graph_of(const std::vector<NetworkCall>& calls, std::size_t centre);

/// "Relu (kernel_details.csv:6)"
std::string described(const NetworkCall& call);

}  // namespace opbench
