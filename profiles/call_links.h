#pragma once

#include <cstddef>
#include <string>
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

}  // namespace opbench
