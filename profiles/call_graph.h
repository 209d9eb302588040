#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "profiles/call_links.h"

namespace opbench {

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
