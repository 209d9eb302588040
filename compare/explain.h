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

/// The operators that `explain` recomputes.
enum class Explain { all, failing, none };

/// Parses "all", "failing" or "none". Errors: throws Error that lists them.
Explain parse_explain(std::string_view text);

struct ExplainOptions {
  Explain which = Explain::failing;
  SideNames sides;
  const OpTable* table = &OpTable::builtin();
  JudgeOptions judging;
  /// Called before each operator, with the number of finished operators and of all.
  std::function<void(std::size_t done, std::size_t all)> progress = {};
  std::function<bool()> stop = {};  ///< true: those that are left stay unexplained
};

/// Sets the origin of the error for each operator with a suspect output. An output is suspect if it
/// fails, or if the standard allows some of its elements beyond the tolerance. If none of these
/// operators introduces an error, those that differ before the first failure follow. With `all`,
/// every operator is recomputed. The difference of actual and expected outputs a and b splits
/// exactly:
///
///     a - b = (a - f(xa)) + (f(xa) - f(xb)) + (f(xb) - b)
///
/// Here f is the operator in fp64, and xa, xb are the recorded inputs of each dump; a dump made in
/// load mode has the other's inputs. The error is *introduced* if an output of a side is wrong for
/// that side's inputs (judge_record). Otherwise it is *inherited* if the inputs differ, and
/// *rounding* if they are equal. The origin stays *unknown* if a failing output cannot be
/// recomputed. Must be called after `analyse`.
void explain(Comparison& comparison, DumpSource& actual, DumpSource& expected,
             const ExplainOptions& options);

}  // namespace opbench
