#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "compare/comparison.h"
#include "text/program.h"

namespace opbench {

/// Sets the verdicts of all operators, and their origins as far as measured tensors determine them.
///
/// An operator whose outputs pass although inputs fail *repaired* the error. It *inherited* the
/// error if its outputs differ more than its inputs, within their tolerance. If outputs fail, the
/// origin is *unknown* until `explain` recomputes the operator, and the explanation describes its
/// inputs. Relative errors are TensorResult::relative_error.
void analyse(Comparison& comparison);

/// The first operator, in order of execution, that introduces an error.
std::optional<std::size_t> first_introduced(const Comparison& comparison);

/// The first operator, in order of execution, that has a failing tensor. Operators that draw random
/// numbers are excluded.
std::optional<std::size_t> first_departure(const Comparison& comparison);

/// Operators that fail, the worst first. Introduced errors come before unknown origins, and these
/// before inherited and repaired errors and rounding. Equal ranks are sorted by output error, then
/// in order of execution.
std::vector<std::size_t> worst_operators(const Comparison& comparison);

/// Operators that amplify errors, the largest factor first. Operators without an error in their
/// inputs are excluded, as they have no factor.
std::vector<std::size_t> amplifying_operators(const Comparison& comparison);

/// Counts of tensors by verdict, and of operators by origin.
struct ComparisonCounts {
  std::int64_t passed = 0, failed = 0, mistrusted = 0, not_compared = 0, unread = 0;
  std::int64_t warnings = 0;  ///< tensors that have one
  std::int64_t operators = 0, failed_operators = 0;
  std::int64_t introduced = 0, inherited = 0, rounding = 0, repaired = 0, unknown = 0;

  std::int64_t compared() const { return passed + failed + mistrusted; }
};
ComparisonCounts count(const Comparison& comparison);

/// The failing output with the largest relative error; without a failing output, the worst of all
/// failing tensors. Null if no tensor fails.
const TensorResult* worst_tensor(const OperatorResult& op);

/// Condition for failure of the command. any: a tensor fails. first: the inputs of a failing
/// operator do not fail, or an operator introduces an error. introduced: an operator introduces an
/// error. none: never.
enum class FailOn { any, first, introduced, none };

/// Parses "any", "first", "introduced" or "none". Errors: throws Error that lists them.
FailOn parse_fail_on(std::string_view text);

/// The verdict of the whole comparison: failed if a tensor fails; else unread if a tensor could not
/// be read; else not_compared if no tensor was compared; else mistrusted if no tensor passed; else
/// passed.
Verdict verdict_of(const ComparisonCounts& counts);

/// kVerdictFailed takes precedence. kCouldNotFinish applies to a partial comparison and to unread
/// tensors, for any `fail_on`.
ExitCode exit_code(const Comparison& comparison, FailOn fail_on);

}  // namespace opbench
