#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "ops/likely_attrs.h"

namespace opbench {

// Under which names an operator stands in dumps, profiles, logs and scripts of others, and what
// they call its tensors and attributes. Lists are texts with commas between the items. Sources:
// native_functions.yaml and derivatives.yaml of PyTorch 1.5 and 1.8, the names of Ascend's dumper
// (adapted PyTorch 1.5), the operator prototypes of CANN (op_proto), ONNX's operators.

/// The items of "a, b|c, , d"; none of an empty text.
std::vector<std::string> items_of(std::string_view list);

/// The items of such a text.
struct NameList : std::vector<std::string> {
  NameList() = default;
  // NOLINTNEXTLINE(google-explicit-constructor)
  NameList(const char* text) : std::vector<std::string>(items_of(text)) {}
};

/// One of our operators that computes some of the results of an operator elsewhere.
struct KnownPart {
  std::string_view op;
  std::string_view inputs, outputs;
  std::string_view attrs = {};
};

/// The other properties of a KnownCall.
struct KnownCallRules {
  /// "ours: theirs", or the name alone where it is the same: the recorded number or list, where it
  /// is there. "ours: =1": always; "shape of x", "plane of x" (its last two extents), "whole
  /// plane of x" (the same, where those of the first input are their multiples or parts), "dtype of
  /// x", "1 - x", "- x"; "x as none|mean|sum": the word that number 0, 1 or 2 stands for; "rows of
  /// x": its first extent; "kept shape of x along dim": x reduced over the recorded axes, which
  /// stay with extent 1; "extents of x_* along dim": of all of a list; "borders of y along dim from
  /// start": what y has around the first input, which lies in it at the recorded start; with "by
  /// step" its places are so far apart.
  std::string_view attrs = {};
  /// "name: number ...": what a recorded number or list must be where it is there; "name:" alone:
  /// no number.
  std::string_view where = {};
  std::string_view only = {};   ///< the same, but it must be there
  std::string_view needs = {};  ///< attributes without which the call is another
  std::string_view devices = {};
  std::vector<KnownPart> parts = {};  ///< instead of this operator alone
  /// Calls of one name are tried by rising turns, those of one operator in their order.
  int turn = 0;
  /// For shapes and cost: what recomputing a result would need is not in a dump, or means
  /// something else there.
  bool is_profiled_only = false;
};

/// Calls elsewhere that this operator computes. Names are looked up in plainer and plainer
/// spellings (`spellings` in ops/op_table.h).
struct KnownCall {
  std::string_view names;
  /// Recorded tensors in the order of our operator's inputs. "a|b": whichever is there. "a?": may
  /// be missing. "tensors/tensors_*": all of a list. "output a": a recorded result, such as the
  /// mask that a dropout has drawn. "a with axis dim": a with one axis of extent 1 more. A recorded
  /// number stands for a tensor of one element where no row takes it as an attribute.
  std::string_view inputs = {};
  /// Recorded results in the order of our operator's outputs; an empty item: not recorded;
  /// "result/result_*": all of a list.
  std::string_view outputs = {};
  KnownCallRules rules = {};
};

/// The names of an operator's tensors in a profile, a log or a trace, in its order, where that is
/// not the order of the call's inputs, or there are more. An empty item: no operand. "=axes":
/// numbers on the host, the attribute of that name. "x_*": all that follow.
struct ProfiledCall {
  NameList names;
  NameList inputs = {};
  NameList outputs = {};  ///< those that are not listed are not looked at
  /// Operands that are attributes of theirs: one element of the first input's dtype.
  NameList scalars = {};
  /// The operator that is computed for each tensor of the first `lists` lists, which are equally
  /// long; the tensors after them are inputs of each.
  std::string_view each = {};
  std::size_t lists = 0;
  NameList into = {};           ///< operators, each with its tensors, that compute it together
  std::string_view gives = {};  ///< the input whose shape the result has; empty: not told
  /// The operator that completes what it begins: its time goes to that one's case.
  std::string_view part_of = {};
};

struct KnownAs {
  /// Why dumps do not hold this operator under any name, where there are no `calls` of dumps.
  std::string_view not_recorded = {};
  std::vector<KnownCall> calls = {};
  std::vector<ProfiledCall> profiled = {};
  /// How torch computes it: {0} is an input, {inputs} their list, {beta} an attribute, {shape} and
  /// {dtype} the output's; an input that may be left out is None then. Several outputs are a tuple.
  /// Empty: torch has no plain call for it.
  std::string_view torch = {};
  /// Attributes that a profile does not tell, from shapes, by the names of the calls
  /// (ops/likely_attrs.h). Null: nothing is known.
  LikelyAttrs (*likely)(const Shapes& inputs, const Shapes& outputs) = nullptr;
};

}  // namespace opbench
