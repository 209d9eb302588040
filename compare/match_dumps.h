#pragma once

#include <functional>
#include <span>
#include <vector>

#include "compare/matching.h"
#include "compare/name_map.h"
#include "dump/dump_types.h"

namespace opbench {

/// What a dump holds; both outlive the matches.
struct DumpContents {
  std::span<const DumpRecord> records;
  std::span<const DumpEntry> strays;  ///< outside of any operator
};

/// Some values of a tensor, the same places for every tensor of as many elements; empty if it
/// cannot be read.
using ValueSample = std::function<std::vector<double>(const DumpEntry&)>;

/// Which calls of an operator belong together.
enum class CallRule {
  /// The k-th with the k-th where both dumps hold as many, else by shape, dtype and the inputs'
  /// values, so that an extra call does not shift the later ones. Calls that name their task in a
  /// context pair with the same task only.
  aligned,
  /// The k-th with the k-th, as msaccucmp does it.
  by_number,
};

struct MatchOptions {
  CallRule rule = CallRule::aligned;
  /// Asked for only where the numbers of calls differ; without them shapes and dtypes decide.
  ValueSample sample_actual = {}, sample_expected = {};
};

/// Pairs the operators of two dumps, in order of execution: the actual dump's seqs; calls that only
/// the expected dump holds stand behind the partner of the call before them. Every entry that is a
/// tensor or cannot be read appears exactly once. Strays come last, as operators without records,
/// paired by path.
///
/// Operators pair by name, else by `map`, else by the rule Npu* = Cudnn* or Thnn*; within a pair,
/// tensors by side and name, else by the map's parameters. An actual dump without inputs of any
/// kind was made from the expected one's ("load mode"): then equal seqs pair.
std::vector<OperatorMatch> match_dumps(const DumpContents& actual, const DumpContents& expected,
                                       const NameMap& map, const MatchOptions& options = {});

/// True if there are inputs of any kind: tensors, scalars, or nothing in a group of that name.
bool holds_inputs(const DumpRecord& record);

/// True if a dump holds outputs and no inputs of any kind.
bool is_load_mode(std::span<const DumpRecord> records);

/// Whether a record ran before another: by number, records without one after all others and by
/// text.
bool runs_before(const DumpRecord& a, const DumpRecord& b);

}  // namespace opbench
