#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>

#include "compare/comparison.h"
#include "compare/judge_dump.h"
#include "dump/dump_source.h"
#include "ops/op_table.h"

namespace opbench {

/// Which operators `explain` recomputes.
enum class Explain { all, failing, none };

/// "all", "failing" or "none". Errors: throws Error that lists them.
Explain parse_explain(std::string_view text);

struct ExplainOptions {
  Explain which = Explain::failing;
  SideNames sides;
  const OpTable* table = &OpTable::builtin();
  JudgeOptions judging;
  /// Called before each operator, with how many are done and all there are.
  std::function<void(std::size_t done, std::size_t all)> progress = {};
  std::function<bool()> stop = {};  ///< true: those that are left stay unexplained
};

/// Tells who made the error of each operator with an output that fails, or of which the standard
/// lets some elements be off; where none of these introduces an error, the same is asked of those
/// that differ before the first that fails. Of `all`: of every operator. What actual and expected
/// outputs a and b differ by is split exactly,
///
///     a - b = (a - f(xa)) + (f(xa) - f(xb)) + (f(xb) - b)
///
/// where f is the operator in fp64 and xa, xb are the inputs that each dump has recorded; of a dump
/// made in load mode they are the other's. The error is *introduced* if an output of a side is
/// wrong for that side's inputs (judge_record), else *inherited* if the inputs differ, and
/// *rounding* if they do not. The origin stays *unknown* where a failing output cannot be
/// recomputed. `analyse` comes first.
void explain(Comparison& comparison, DumpSource& actual, DumpSource& expected,
             const ExplainOptions& options);

}  // namespace opbench
