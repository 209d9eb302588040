#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "ops/likely_attrs.h"

namespace opbench {

// The names of an operator, its tensors and its attributes in dumps, profiles, logs and scripts of
// other programs. Lists are texts with commas between the items. Sources: native_functions.yaml and
// derivatives.yaml of PyTorch 1.5 and 1.8, the names of Ascend's dumper (adapted PyTorch 1.5), the
// operator prototypes of CANN (op_proto), ONNX's operators.

/// The items of "a, b|c, , d"; an empty text has no items.
std::vector<std::string> items_of(std::string_view list);

/// The items of such a text.
struct NameList : std::vector<std::string> {
  NameList() = default;
  // NOLINTNEXTLINE(google-explicit-constructor)
  NameList(const char* text) : std::vector<std::string>(items_of(text)) {}
};

/// One of opbench's operators that computes some of the results of a foreign operator.
struct KnownPart {
  std::string_view op;
  std::string_view inputs, outputs;
  std::string_view attrs = {};
};

/// The other properties of a KnownCall.
struct KnownCallRules {
  /// Sources of attributes: "ours: theirs", or the name alone if both are equal. A plain source is
  /// the recorded number or list, if it exists. Other sources:
  ///   "=1": the constant.
  ///   "shape of x", "dtype of x".
  ///   "rows of x": its first extent; "plane of x": its last two extents.
  ///   "whole plane of x": its last two extents, if those of the first input are their multiples or
  ///     divisors.
  ///   "1 - x", "- x".
  ///   "x as none|mean|sum": the word for the number 0, 1 or 2.
  ///   "kept shape of x along dim": x reduced over the recorded axes, which stay with extent 1.
  ///   "extents of x_* along dim": those of all tensors of a list.
  ///   "borders of y along dim from start": the part of y around the first input, which is in y
  ///     from the recorded start on; with "by step" its places are that far apart.
  std::string_view attrs = {};
  /// "name: number ...": the allowed values of a recorded number or list, if it exists; "name:"
  /// alone: it must not exist.
  std::string_view where = {};
  std::string_view only = {};   ///< like `where`, but the number or list must exist
  std::string_view needs = {};  ///< attributes that must be there; else the row does not fit
  std::string_view devices = {};
  std::vector<KnownPart> parts = {};  ///< instead of this operator alone
  /// Calls of one name are tried in ascending turns; those of one operator in their order.
  int turn = 0;
  /// For shapes and cost only: a dump lacks values for the recomputation of a result, or they have
  /// another meaning there.
  bool is_profiled_only = false;
};

/// Foreign calls that this operator computes. Names are looked up in simpler and simpler spellings
/// (`spellings` in ops/op_table.h).
struct KnownCall {
  std::string_view names;
  /// Recorded tensors in the order of the inputs here. "a|b": the first that exists. "a?": may be
  /// missing. "tensors/tensors_*": all of a list. "output a": a recorded result, such as the mask
  /// of a dropout. "a with axis dim": a with an additional axis of extent 1. A recorded number is
  /// taken as a tensor of one element if no row takes it as an attribute.
  std::string_view inputs = {};
  /// Recorded results in the order of the outputs here; an empty item: not recorded;
  /// "result/result_*": all of a list.
  std::string_view outputs = {};
  KnownCallRules rules = {};
};

/// The names of an operator's tensors in a profile, a log or a trace, in its order. Needed if that
/// is not the order of the call's inputs, or if there are more tensors. An empty item: no operand.
/// "=axes": numbers on the host, the attribute of that name. "x_*": all following tensors.
struct ProfiledCall {
  NameList names;
  NameList inputs = {};
  NameList outputs = {};  ///< outputs that are not listed are ignored
  /// The operator that is computed for each tensor of the first `lists` lists, which have equal
  /// length. The tensors after the lists are inputs of each call.
  std::string_view each = {};
  std::size_t lists = 0;
  NameList into = {};           ///< the operators, each with its tensors, that compute it together
  std::string_view gives = {};  ///< the input with the shape of the result; empty: unknown
  /// The operator that completes the computation: the time is added to the case of that operator.
  std::string_view part_of = {};
};

struct KnownAs {
  /// The reason why dumps never contain this operator. Set if `calls` has no call for dumps.
  std::string_view not_recorded = {};
  std::vector<KnownCall> calls = {};
  std::vector<ProfiledCall> profiled = {};
  /// The torch expression: {0} is an input, {inputs} their list, {beta} an attribute, {shape} and
  /// {dtype} those of the output. A missing optional input becomes None. Several outputs are a
  /// tuple. Empty: torch has no simple call for it.
  std::string_view torch = {};
  /// Attributes that a profile does not contain, estimated from shapes, by the names of the calls
  /// (ops/likely_attrs.h). Null: no estimate.
  LikelyAttrs (*likely)(const Shapes& inputs, const Shapes& outputs) = nullptr;
};

}  // namespace opbench
