#pragma once

#include <functional>
#include <span>
#include <vector>

#include "compare/matching.h"
#include "compare/name_map.h"
#include "dump/dump_types.h"

namespace opbench {

/// The contents of a dump; both must outlive the matches.
struct DumpContents {
  std::span<const DumpRecord> records;
  std::span<const DumpEntry> strays;  ///< outside of any operator
};

/// Some values of a tensor, at the same places for tensors with the same number of elements. Empty
/// if it cannot be read.
using ValueSample = std::function<std::vector<double>(const DumpEntry&)>;

/// The rule that pairs calls of an operator.
enum class CallRule {
  /// Pairs the k-th calls if both dumps have the same number of calls. Otherwise pairs by shape,
  /// dtype and the inputs' values, so that an extra call does not shift later calls. Calls that
  /// name their task in a context pair only with the same task.
  aligned,
  /// Pairs the k-th calls, like msaccucmp.
  by_number,
};

struct MatchOptions {
  CallRule rule = CallRule::aligned;
  /// Called only if the numbers of calls differ. If empty, shapes and dtypes decide.
  ValueSample sample_actual = {}, sample_expected = {};
};

/// Pairs the operators of two dumps, in the actual dump's order of execution. Calls on the expected
/// side only follow the partner of the previous call. Every entry that is a tensor or cannot be
/// read appears exactly once. Strays come last, as operators without records, paired by path, else
/// by `checkpoint_name`.
///
/// Operators pair by name, else by `map`, else by the rule Npu* = Cudnn* or Thnn*. Within a pair,
/// tensors pair by side and name, else by the map's parameters. An actual dump without inputs of
/// any kind was made from the expected dump's inputs ("load mode"): then equal sequence numbers
/// pair.
std::vector<OperatorMatch> match_dumps(const DumpContents& actual, const DumpContents& expected,
                                       const NameMap& map, const MatchOptions& options = {});

/// True if there are inputs of any kind: tensors, scalars, or an empty group of that name.
bool holds_inputs(const DumpRecord& record);

/// True if a dump contains outputs and no inputs of any kind.
bool is_load_mode(std::span<const DumpRecord> records);

/// True if a record ran before another, by number. Records without a number come last and are
/// ordered by text.
bool runs_before(const DumpRecord& a, const DumpRecord& b);

}  // namespace opbench
