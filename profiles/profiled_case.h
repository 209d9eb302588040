#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "harness/plan/case.h"
#include "ops/likely_attrs.h"
#include "ops/op_table.h"
#include "profiles/profiled_tensor.h"

namespace opbench {

/// Parses the numbers among logged attributes, "{data_format = NCHW, groups = 1, strides = [1, 1,
/// 2, 2]}", and reduces them to the form of frameworks. Strides, dilations and ksize keep H and W.
/// Pads keep above and left if both sides are equal, else all four. Words are skipped.
NamedNumbers attrs_of_log(std::string_view op, std::string_view logged);

/// "strides=[2,2] pads=[1,1]"
std::string to_string(const NamedNumbers& attrs);

/// An operator of a profile, a log or a trace, in the terms of CANN or PyTorch.
struct ProfiledOperator {
  std::string type;
  std::vector<ProfiledTensor> inputs, outputs;
  std::optional<NamedNumbers> attrs;  ///< as logged; empty: not known
  std::vector<std::string> unknown;   ///< attributes with numbers on the host, not in the log
  bool has_results = true;            ///< false for a call whose outputs are never recorded
};

/// A recorded operator as a case of opbench, or the reason why it has no case.
struct BuiltCase {
  std::optional<Case> spec;
  /// The recorded tensor of each input (output) of the case. Empty if it is not a tensor of that
  /// side, or was not recorded.
  std::vector<std::optional<std::size_t>> inputs, outputs;
  bool is_dropped = false;         ///< excluded on purpose: results are random, or memory is set
  bool are_attrs_known = true;     ///< logged, or the operator has no attributes
  std::vector<std::string> notes;  ///< uncertain properties, a line each
  std::string obstacle;            ///< the reason why there is no case
};

/// Builds the case from the operator table and checks it against the shapes of the outputs. Unknown
/// attributes take the values that fit the shapes, otherwise the defaults, and a note states that.
BuiltCase build_case(ProfiledOperator one, const LogicalShapes& shapes, const OpTable& table);

/// True for TransData, which hosts also log as Identity.
bool is_conversion(const ProfiledOperator& one);

/// Builds cases of operators that move data, whose attributes are words or follow from the shapes:
/// TransData, Slice, AsStrided, BroadcastTo, Tile and Split. Returns false for others. Otherwise
/// sets the case or the obstacle. `one` is resolved.
bool build_moved_case(const ProfiledOperator& one, BuiltCase& built);

}  // namespace opbench
