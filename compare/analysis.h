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

/// Fills in the verdicts of all operators, and what the measured tensors alone tell of an error.
///
/// An operator whose outputs pass although inputs fail *repaired* an error, or *inherited* it if
/// its outputs are further off than its inputs, inside their tolerance. The
/// origin of one whose outputs fail is *unknown* until `explain` has recomputed it, and its
/// explanation tells of its inputs. Relative errors are TensorResult::relative_error.
void analyse(Comparison& comparison);

/// The first operator, in order of execution, that introduces an error.
std::optional<std::size_t> first_introduced(const Comparison& comparison);

/// The first operator in order of execution that has a tensor that fails, those that draw random
/// numbers left out.
std::optional<std::size_t> first_departure(const Comparison& comparison);

/// Operators that fail, the worst first: those that introduce an error before those of
/// unknown origin before those that inherit or repair one, or round otherwise, then by output
/// error, then in order.
std::vector<std::size_t> worst_operators(const Comparison& comparison);

/// Operators that make errors larger, by amplification; those without an error in their inputs are
/// left out, there is no factor.
std::vector<std::size_t> amplifying_operators(const Comparison& comparison);

/// Tensors by verdict, operators by origin.
struct ComparisonCounts {
  std::int64_t passed = 0, failed = 0, mistrusted = 0, not_compared = 0, unread = 0;
  std::int64_t warnings = 0;  ///< tensors that have one
  std::int64_t operators = 0, failed_operators = 0;
  std::int64_t introduced = 0, inherited = 0, rounding = 0, repaired = 0, unknown = 0;

  std::int64_t compared() const { return passed + failed + mistrusted; }
};
ComparisonCounts count(const Comparison& comparison);

/// What shows best what is wrong with an operator: of its failing outputs, else of all its failing
/// tensors, that with the largest relative error. Null if none fails.
const TensorResult* worst_tensor(const OperatorResult& op);

/// The command fails for any tensor; or for an operator whose inputs do not fail, or that
/// introduces an error; or only for one that introduces an error; or never.
enum class FailOn { any, first, introduced, none };

/// "any", "first", "introduced" or "none". Errors: throws Error that lists them.
FailOn parse_fail_on(std::string_view text);

/// Of the whole comparison: failed if a tensor fails, unread if one could not be read, not_compared
/// if none was compared, mistrusted if none passed, else passed.
Verdict verdict_of(const ComparisonCounts& counts);

/// kVerdictFailed before kCouldNotFinish, which a partial comparison is and one with a tensor that
/// could not be read, whatever makes the command fail.
ExitCode exit_code(const Comparison& comparison, FailOn fail_on);

}  // namespace opbench
