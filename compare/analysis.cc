#include "compare/analysis.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <tuple>

#include "tensor/error.h"

namespace opbench {
namespace {

/// A summary of the inputs or the outputs of an operator.
struct SideSummary {
  int compared = 0, failed = 0, not_compared = 0;
  std::optional<double> error;
};

SideSummary summarise(const OperatorResult& op, Side side) {
  SideSummary summary;
  for (const TensorResult& tensor : op.tensors) {
    if (tensor.entry().side != side) continue;
    const Verdict verdict = tensor.judgement.verdict;
    summary.failed += verdict == Verdict::failed;
    summary.not_compared += !is_compared(verdict);
    summary.compared += is_compared(verdict);
    if (tensor.is_measured) {
      summary.error = std::max(summary.error.value_or(0), tensor.relative_error());
    }
  }
  return summary;
}

std::optional<double> amplification(const OperatorResult& op) {
  if (!op.input_error || !op.output_error || !(*op.output_error > 0)) return std::nullopt;
  // NaN and Inf in the inputs have no factor.
  if (std::isinf(*op.input_error)) return std::nullopt;
  return *op.input_error > 0 ? *op.output_error / *op.input_error : HUGE_VAL;
}

// A note on inputs without a comparison: "; 2 inputs were not compared".
std::string missing_text(const SideSummary& side) {
  if (side.not_compared == 0) return {};
  return fmt::format("; {} input{} not compared", side.not_compared,
                     side.not_compared == 1 ? " was" : "s were");
}

// A description of the measured inputs, for an operator with failing outputs.
std::string inputs_text(const SideSummary& inputs, bool is_load_mode) {
  if (inputs.failed > 0) {
    return fmt::format("{} of {} inputs fail already{}", inputs.failed, inputs.compared,
                       missing_text(inputs));
  }
  if (inputs.compared > 0) return "its inputs agree" + missing_text(inputs);
  if (is_load_mode) return "its inputs were the expected dump's own";
  return inputs.not_compared > 0 ? "none of its inputs was compared"
                                 : "it has no inputs in the dumps";
}

void analyse_operator(OperatorResult& op, bool is_load_mode) {
  const SideSummary inputs = summarise(op, Side::input), outputs = summarise(op, Side::output);
  op.input_error = inputs.error;
  op.output_error = outputs.error;
  op.amplification = amplification(op);
  op.origin = Origin::none;
  op.explanation.clear();
  if (outputs.failed > 0) {
    op.origin = Origin::unknown;
    op.explanation = inputs_text(inputs, is_load_mode);
  } else if (inputs.failed > 0 && outputs.compared > 0 && outputs.error > inputs.error) {
    op.origin = Origin::inherited;
    op.explanation = fmt::format(
        "{} of {} inputs fail; its outputs are further off, though inside their tolerance",
        inputs.failed, inputs.compared);
  } else if (inputs.failed > 0 && outputs.compared > 0) {
    op.origin = Origin::repaired;
    op.explanation =
        fmt::format("{} of {} inputs fail, no output does", inputs.failed, inputs.compared);
  } else if (op.verdict == Verdict::failed) {
    op.origin = Origin::unknown;
    op.explanation = "none of its outputs was compared";
  }
}

// A higher rank is worse.
int rank(Verdict verdict) {
  switch (verdict) {
    case Verdict::not_compared:
      return 0;
    case Verdict::passed:
      return 1;
    case Verdict::mistrusted:
      return 2;
    case Verdict::unread:
      return 3;
    case Verdict::failed:
      break;
  }
  return 4;
}

Verdict worst_verdict(const OperatorResult& op) {
  Verdict worst = Verdict::not_compared;
  for (const TensorResult& tensor : op.tensors) {
    if (rank(tensor.judgement.verdict) > rank(worst)) worst = tensor.judgement.verdict;
  }
  return worst;
}

// Origins with a lower rank come first in the list of failures.
int rank(Origin origin) {
  switch (origin) {
    case Origin::introduced:
      return 0;
    case Origin::unknown:
    case Origin::none:
      return 1;
    default:
      return 2;
  }
}

void count_operator(const OperatorResult& op, ComparisonCounts& counts) {
  ++counts.operators;
  counts.failed_operators += op.verdict == Verdict::failed;
  counts.introduced += op.origin == Origin::introduced;
  counts.inherited += op.origin == Origin::inherited;
  counts.rounding += op.origin == Origin::rounding;
  counts.repaired += op.origin == Origin::repaired;
  counts.unknown += op.origin == Origin::unknown;
}

bool has_failed_input(const OperatorResult& op) {
  return std::any_of(op.tensors.begin(), op.tensors.end(), [](const TensorResult& tensor) {
    return tensor.entry().side == Side::input && tensor.judgement.verdict == Verdict::failed;
  });
}

// True if the results are random. With a recorded mask, the operator was recomputed and has an
// origin.
bool is_drawn(const OperatorResult& op) {
  return op.is_random && (op.origin == Origin::unknown || op.origin == Origin::none);
}

bool departs(const OperatorResult& op) { return op.verdict == Verdict::failed && !is_drawn(op); }

bool introduces(const OperatorResult& op) { return op.origin == Origin::introduced; }

template <class Predicate>
std::optional<std::size_t> first_where(const Comparison& comparison, Predicate predicate) {
  const auto& operators = comparison.operators;
  const auto found = std::find_if(operators.begin(), operators.end(), predicate);
  if (found == operators.end()) return std::nullopt;
  return static_cast<std::size_t>(found - operators.begin());
}

bool starts_failure(const OperatorResult& op) {
  return introduces(op) || (departs(op) && !has_failed_input(op));
}

bool fails(const Comparison& comparison, const ComparisonCounts& counts, FailOn fail_on) {
  switch (fail_on) {
    case FailOn::any:
      return counts.failed + counts.introduced > 0;
    case FailOn::first:
      return first_where(comparison, starts_failure).has_value();
    case FailOn::introduced:
      return counts.introduced > 0;
    case FailOn::none:
      break;
  }
  return false;
}

}  // namespace

void analyse(Comparison& comparison) {
  for (OperatorResult& op : comparison.operators) {
    op.verdict = worst_verdict(op);
    analyse_operator(op, comparison.is_load_mode);
  }
}

std::optional<std::size_t> first_introduced(const Comparison& comparison) {
  return first_where(comparison, introduces);
}

std::optional<std::size_t> first_departure(const Comparison& comparison) {
  return first_where(comparison, departs);
}

std::vector<std::size_t> worst_operators(const Comparison& comparison) {
  std::vector<std::size_t> worst;
  for (std::size_t i = 0; i < comparison.operators.size(); ++i) {
    if (comparison.operators[i].verdict == Verdict::failed) worst.push_back(i);
  }
  const auto key = [&](std::size_t i) {
    const OperatorResult& op = comparison.operators[i];
    return std::tuple(rank(op.origin), -op.output_error.value_or(0), i);
  };
  std::sort(worst.begin(), worst.end(),
            [&](std::size_t a, std::size_t b) { return key(a) < key(b); });
  return worst;
}

std::vector<std::size_t> amplifying_operators(const Comparison& comparison) {
  std::vector<std::size_t> found;
  const auto factor = [&](std::size_t i) { return *comparison.operators[i].amplification; };
  for (std::size_t i = 0; i < comparison.operators.size(); ++i) {
    const OperatorResult& op = comparison.operators[i];
    if (op.amplification && op.input_error > 0 && *op.amplification > 1) found.push_back(i);
  }
  std::stable_sort(found.begin(), found.end(),
                   [&](std::size_t a, std::size_t b) { return factor(a) > factor(b); });
  return found;
}

ComparisonCounts count(const Comparison& comparison) {
  ComparisonCounts counts;
  for (const OperatorResult& op : comparison.operators) {
    count_operator(op, counts);
    for (const TensorResult& tensor : op.tensors) {
      const Verdict verdict = tensor.judgement.verdict;
      counts.passed += verdict == Verdict::passed;
      counts.failed += verdict == Verdict::failed;
      counts.mistrusted += verdict == Verdict::mistrusted;
      counts.not_compared += verdict == Verdict::not_compared;
      counts.unread += verdict == Verdict::unread;
      counts.warnings += !tensor.warnings.empty();
    }
  }
  return counts;
}

const TensorResult* worst_tensor(const OperatorResult& op) {
  const TensorResult* worst = nullptr;
  const auto key = [](const TensorResult& tensor) {
    return std::tuple(tensor.entry().side == Side::output, tensor.relative_error());
  };
  for (const TensorResult& tensor : op.tensors) {
    if (tensor.judgement.verdict != Verdict::failed) continue;
    if (worst == nullptr || key(tensor) > key(*worst)) worst = &tensor;
  }
  return worst;
}

FailOn parse_fail_on(std::string_view text) {
  if (text == "any") return FailOn::any;
  if (text == "first") return FailOn::first;
  if (text == "introduced") return FailOn::introduced;
  if (text == "none") return FailOn::none;
  throw Error(fmt::format("--fail-on is '{}'; it must be any, first, introduced or none", text));
}

Verdict verdict_of(const ComparisonCounts& counts) {
  if (counts.failed > 0) return Verdict::failed;
  if (counts.unread > 0) return Verdict::unread;
  if (counts.compared() == 0) return Verdict::not_compared;
  return counts.passed > 0 ? Verdict::passed : Verdict::mistrusted;
}

ExitCode exit_code(const Comparison& comparison, FailOn fail_on) {
  const ComparisonCounts counts = count(comparison);
  if (fails(comparison, counts, fail_on)) return kVerdictFailed;
  if (comparison.is_partial || counts.unread > 0) return kCouldNotFinish;
  return counts.compared() == 0 ? kNothingToJudge : kAllWell;
}

}  // namespace opbench
