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

/// The numbers among logged attributes, "{data_format = NCHW, groups = 1, strides = [1, 1, 2, 2]}",
/// as frameworks state them: of strides, dilations and ksize the two of the plane, of pads those
/// above and to the left, where they are the same on both sides (else all four). Words are left
/// out.
NamedNumbers attrs_of_log(std::string_view op, std::string_view logged);

/// "strides=[2,2] pads=[1,1]"
std::string to_string(const NamedNumbers& attrs);

/// An operator that a profile, a log or a trace shows, in CANN's terms or PyTorch's.
struct ProfiledOperator {
  std::string type;
  std::vector<ProfiledTensor> inputs, outputs;
  std::optional<NamedNumbers> attrs;  ///< as logged; none: not known
  std::vector<std::string> unknown;   ///< attributes whose numbers were on the host, not in the log
  bool has_results = true;            ///< false: of a call whose outputs are never recorded
};

/// The same as a case of ours, or why it is none.
struct BuiltCase {
  std::optional<Case> spec;
  /// Which tensor of the recorded operator each input (output) of the case is; none: no tensor of
  /// that side, or not recorded.
  std::vector<std::optional<std::size_t>> inputs, outputs;
  bool is_dropped = false;         ///< meant to be none: results are drawn, or memory is set
  bool are_attrs_known = true;     ///< logged, or the operator has none
  std::vector<std::string> notes;  ///< what is not known for sure; one line each
  std::string obstacle;            ///< where there is no case
};

/// The case by the operator table, checked against the shapes of the outputs. Attributes that are
/// not known are those that fit the shapes, else the defaults, and a note says so.
BuiltCase build_case(ProfiledOperator one, const LogicalShapes& shapes, const OpTable& table);

/// True for TransData, which hosts also log as Identity.
bool is_conversion(const ProfiledOperator& one);

/// Operators that move data and whose attributes are words or follow from the shapes: TransData,
/// Slice, AsStrided, BroadcastTo, Tile and Split. Returns false for others; else the case is set,
/// or the obstacle. `one` is resolved.
bool build_moved_case(const ProfiledOperator& one, BuiltCase& built);

}  // namespace opbench
