#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "profiles/trace_profile.h"

namespace opbench {

/// A call on the host in one of the layers.
struct LayerCall {
  static constexpr std::uint32_t kNoOperator = UINT32_MAX;
  std::int64_t start_ns = 0, end_ns = 0;
  std::uint32_t thread = 0;
  std::uint32_t op = kNoOperator;  ///< for a call of an operator: its place in the profile
  /// For a task that one thread gives to another: its id, or -1. Its time on the other thread
  /// belongs to the operator that gave it.
  std::int64_t task = -1;
  Layer layer = Layer::framework;
  bool is_given = false;  ///< the call gives the task, it does not run it
};

/// The layer of a host event from its name, "AscendCL@aclnnAddmm", "Node@launch", or from its
/// process; a call that gives or runs a task is of the framework. Empty for other events.
std::optional<Layer> layer_of(const TraceEvent& event, std::string_view process_name);

/// Adds the time of each call, without calls inside, to its layer and to the innermost operator
/// around it. Sorts the calls.
void attribute_layers(std::vector<LayerCall>& calls, TraceProfile& profile);

/// Adds a time to a layer, and to an operator unless it is `kNoOperator`.
void add_layer_time(Layer layer, std::uint32_t op, std::int64_t time_ns, TraceProfile& profile);

}  // namespace opbench
