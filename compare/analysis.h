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

/// Fills in the verdicts and the origins of errors of all operators.
///
/// Outputs held to `fp16-cube` are judged first, and sums that cancelled are held to their terms.
/// An operator whose outputs fail *introduced* the error if none of its inputs fails and they are
/// not as far off inside their tolerance; else it *inherited* it, and *amplified* it if its
/// outputs' largest relative error is more than twice its inputs'. It *repaired* an error if inputs
/// fail, no output does, and the outputs' relative error is no larger. The origin is *unknown*
/// where the side that would tell was not compared; but in load mode the inputs were the expected
/// dump's own, so an error was introduced. Relative errors are TensorResult::relative_error.
void analyse(Comparison& comparison);

/// The first operator in order of execution that has a tensor that fails, those that draw random
/// numbers left out.
std::optional<std::size_t> first_departure(const Comparison& comparison);

/// Operators that fail, the worst first: those that introduce or amplify an error before those of
/// unknown origin before those that inherit or repair one, then by output error, then in order.
std::vector<std::size_t> worst_operators(const Comparison& comparison);

/// Operators that make errors larger, by amplification; those without an error in their inputs are
/// left out, there is no factor.
std::vector<std::size_t> amplifying_operators(const Comparison& comparison);

/// Tensors by verdict, operators by origin.
struct ComparisonCounts {
  std::int64_t passed = 0, failed = 0, mistrusted = 0, not_compared = 0, unread = 0;
  std::int64_t warnings = 0;  ///< tensors that have one
  std::int64_t operators = 0, failed_operators = 0;
  std::int64_t introduced = 0, inherited = 0, amplified = 0, repaired = 0, unknown = 0;

  std::int64_t compared() const { return passed + failed + mistrusted; }
};
ComparisonCounts count(const Comparison& comparison);

/// Tensors that something is said of in the same words.
struct ReasonGroup {
  std::string reason;
  std::vector<const TensorResult*> tensors;
};
/// Tensors of that verdict by its reason, the largest group first.
std::vector<ReasonGroup> by_reason(const Comparison& comparison, Verdict verdict);
/// Tensors by warnings, the largest group first; one with two warnings is in two groups.
std::vector<ReasonGroup> by_warning(const Comparison& comparison);

/// What shows best what is wrong with an operator: of its failing outputs, else of all its failing
/// tensors, that with the largest relative error. Null if none fails.
const TensorResult* worst_tensor(const OperatorResult& op);

/// What makes the command fail: any tensor; or an operator that stands out (see find_jumps); or
/// only one whose error does not come from inputs that differ already, that is of an operator that
/// introduces or amplifies an error or whose inputs were not compared; or none.
enum class FailOn { any, first, jump, none };

/// "any", "first", "jump" or "none". Errors: throws Error that lists them.
FailOn parse_fail_on(std::string_view text);

/// Of the whole comparison: failed if a tensor fails, unread if one could not be read, not_compared
/// if none was compared, mistrusted if none passed, else passed.
Verdict verdict_of(const ComparisonCounts& counts);

/// kVerdictFailed before kCouldNotFinish, which a partial comparison is and one with a tensor that
/// could not be read, whatever makes the command fail.
ExitCode exit_code(const Comparison& comparison, FailOn fail_on);

/// Which tensors could not be read, else why none was compared, with the first as an example; empty
/// where neither is so.
std::string why_not_compared(const Comparison& comparison);

}  // namespace opbench
