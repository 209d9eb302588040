#include "compare/explain.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <memory>
#include <set>
#include <span>
#include <utility>
#include <vector>

#include "compare/analysis.h"
#include "compare/differing_numbers.h"
#include "tensor/error.h"

namespace opbench {
namespace {

template <class Predicate>
bool has_output(const OperatorResult& op, Predicate predicate) {
  return std::any_of(op.tensors.begin(), op.tensors.end(), [&](const TensorResult& tensor) {
    return tensor.entry().side == Side::output && predicate(tensor);
  });
}

bool is_failing(const TensorResult& tensor) { return tensor.judgement.verdict == Verdict::failed; }

// A standard may allow some elements beyond the tolerance; these may be an error.
bool is_suspect(const TensorResult& tensor) {
  return is_failing(tensor) || (tensor.is_measured && tensor.stats.inside < tensor.stats.count);
}

bool is_different(const TensorResult& tensor) {
  return tensor.is_measured && tensor.stats.unequal > 0;
}

const OutputFinding* finding_on(const JudgedRecord& judged, const DumpEntry& entry) {
  const auto found =
      std::find_if(judged.findings.begin(), judged.findings.end(),
                   [&](const OutputFinding& finding) { return finding.path == entry.path; });
  return found == judged.findings.end() ? nullptr : &*found;
}

// The record of a load mode: its outputs with the names in the other dump, and the other dump's
// inputs.
DumpRecord with_inputs_of_expected(const OperatorResult& op) {
  DumpRecord record = *op.expected;
  std::erase_if(record.entries, [](const DumpEntry& entry) { return entry.side == Side::output; });
  for (const TensorResult& tensor : op.tensors) {
    const auto [actual, expected] = tensor.match;
    if (actual == nullptr || expected == nullptr || actual->side != Side::output) continue;
    record.entries.push_back(*actual);
    record.entries.back().name = expected->name;
  }
  return record;
}

// True if every failing output was recomputed.
bool covers_failures(const OperatorResult& op, const JudgedRecord& actual,
                     const JudgedRecord& expected) {
  return !has_output(op, [&](const TensorResult& tensor) {
    const auto [a, e] = tensor.match;
    const bool is_covered = a != nullptr && e != nullptr && finding_on(actual, *a) != nullptr &&
                            finding_on(expected, *e) != nullptr;
    return is_failing(tensor) && !is_covered;
  });
}

bool has_same_inputs(const OperatorResult& op) {
  return std::all_of(op.tensors.begin(), op.tensors.end(), [](const TensorResult& tensor) {
    const bool is_input = tensor.entry().side == Side::input;
    return !is_input || (tensor.is_measured && tensor.stats.unequal == 0);
  });
}

// Arithmetic that explains a side's results, if it is not plain: " (npu.h5: fp16 operands)".
std::string arithmetic_text(const JudgedRecord& actual, const JudgedRecord& expected,
                            const SideNames& sides) {
  std::vector<std::string> texts;
  for (const auto& [judged, side] :
       {std::pair(&actual, &sides.actual), std::pair(&expected, &sides.expected)}) {
    std::set<std::string> claims;
    for (const OutputFinding& finding : judged->findings) {
      if (!finding.numerics.empty()) claims.insert(finding.numerics);
    }
    if (!claims.empty()) texts.push_back(fmt::format("{}: {}", *side, fmt::join(claims, ", ")));
  }
  return texts.empty() ? std::string() : fmt::format(" ({})", fmt::join(texts, "; "));
}

// The result of the other side: "gpu.h5 is right for its", "nothing is known of gpu.h5: ...".
std::string other_text(const JudgedRecord& judged, const std::string& side) {
  if (judged.ruling == Ruling::ok) return fmt::format("{} is right for its", side);
  return fmt::format("{} could not be judged: {}", side, judged.reason);
}

std::string introduced_text(const JudgedRecord& actual, const JudgedRecord& expected,
                            const SideNames& sides) {
  const bool is_first = is_guilty(&actual), is_second = is_guilty(&expected);
  if (is_first && is_second) {
    return fmt::format("by both {} and {}: each is wrong for its own inputs", sides.actual,
                       sides.expected);
  }
  return fmt::format(
      "by {}: wrong for its own inputs; {}", is_first ? sides.actual : sides.expected,
      is_first ? other_text(expected, sides.expected) : other_text(actual, sides.actual));
}

// The reason why an operator was not recomputed: "no operator of that name is known".
std::string unknown_text(const JudgedRecord& actual, const JudgedRecord& expected) {
  for (const JudgedRecord* judged : {&actual, &expected}) {
    if (judged->ruling == Ruling::random) return "it draws random numbers";
    if (!judged->reason.empty()) return "not recomputed: " + judged->reason;
  }
  return "its failing outputs cannot be recomputed";
}

/// Recomputes operators of one comparison.
class Explanation {
 public:
  Explanation(Comparison& comparison, DumpSource& actual, DumpSource& expected,
              const ExplainOptions& options)
      : comparison_(comparison),
        actual_(actual),
        expected_(expected),
        options_(options),
        judging_(options.judging) {
    judging_.judges_draws = false;  // what differs there is never where an error began
  }

  // The comparison is partial if this is stopped early.
  void explain(const std::vector<OperatorResult*>& operators) {
    for (std::size_t i = 0; i < operators.size(); ++i) {
      if (options_.stop && options_.stop()) {
        comparison_.is_partial = true;
        return;
      }
      if (options_.progress) options_.progress(i, operators.size());
      explain(*operators[i]);
    }
  }

 private:
  void explain(OperatorResult& op) {
    JudgedRecord actual = judge_actual(op);
    JudgedRecord expected = judge_record(expected_, *op.expected, *options_.table, judging_);
    settle(op, actual, expected);
    fail_wrong(op, actual, expected);
    op.actual_judged = kept(std::move(actual));
    op.expected_judged = kept(std::move(expected));
    show_wrong(op);
  }

  JudgedRecord judge_actual(const OperatorResult& op) {
    if (!comparison_.is_load_mode) {
      return judge_record(actual_, *op.actual, *options_.table, judging_);
    }
    return judge_record({expected_, actual_}, with_inputs_of_expected(op), *options_.table,
                        judging_);
  }

  // Only wrong records keep their findings, and only the first of these keep pictures: there may be
  // 40,000 records.
  std::shared_ptr<const JudgedRecord> kept(JudgedRecord&& judged) {
    if (!is_guilty(&judged)) judged.findings.clear();
    if (judged.has_pictures() && --pictured_left_ < 0) judged.drop_pictures();
    return std::make_shared<const JudgedRecord>(std::move(judged));
  }

  void settle(OperatorResult& op, const JudgedRecord& actual, const JudgedRecord& expected) {
    const SideNames& sides = options_.sides;
    if (is_guilty(&actual) || is_guilty(&expected)) {
      op.origin = Origin::introduced;
      op.explanation = introduced_text(actual, expected, sides);
    } else if (!has_output(op, is_failing)) {
      return;  // right, and passed
    } else if (!covers_failures(op, actual, expected)) {
      op.origin = Origin::unknown;
      const std::string numbers = differing_numbers(actual_, *op.actual, expected_, *op.expected);
      op.explanation = fmt::format("{}; {}{}{}", unknown_text(actual, expected), op.explanation,
                                   numbers.empty() ? "" : ", but ", numbers);
    } else {
      settle_right(op, arithmetic_text(actual, expected, sides));
    }
  }

  // Sets the origin if both sides are correct for their inputs.
  void settle_right(OperatorResult& op, const std::string& arithmetic) {
    if (comparison_.is_load_mode || has_same_inputs(op)) {
      const std::string numbers = differing_numbers(actual_, *op.actual, expected_, *op.expected);
      op.origin = numbers.empty() ? Origin::rounding : Origin::inherited;
      op.explanation = numbers.empty() ? "both are right for the same inputs" + arithmetic
                                       : "both are right for their own inputs: " + numbers;
      return;
    }
    op.origin = Origin::inherited;
    op.explanation = "both are right for their own inputs, which differ" + arithmetic;
  }

  // An output that is wrong for its inputs fails, even within the standard of the pair.
  static void fail_wrong(OperatorResult& op, const JudgedRecord& actual,
                         const JudgedRecord& expected) {
    for (TensorResult& tensor : op.tensors) {
      const auto [a, e] = tensor.match;
      if (is_failing(tensor)) continue;
      const OutputFinding* found = a != nullptr ? finding_on(actual, *a) : nullptr;
      if ((found == nullptr || !found->is_wrong) && e != nullptr) found = finding_on(expected, *e);
      if (found == nullptr || !found->is_wrong) continue;
      tensor.judgement = {Verdict::failed, found->reason};
      op.verdict = Verdict::failed;
    }
  }

  // Takes the causes of a wrong output of the actual dump from the values recomputed for it.
  static void show_wrong(OperatorResult& op) {
    for (TensorResult& tensor : op.tensors) {
      if (tensor.match.actual == nullptr || tensor.entry().side != Side::output) continue;
      const OutputFinding* const finding = finding_on(*op.actual_judged, *tensor.match.actual);
      if (finding == nullptr || !finding->is_wrong) continue;
      tensor.causes = finding->causes;
      if (finding->picture != nullptr) {
        tensor.error_map =
            std::shared_ptr<const ErrorMap>(finding->picture, &finding->picture->map);
      }
    }
  }

  Comparison& comparison_;
  DumpSource &actual_, &expected_;
  const ExplainOptions& options_;
  JudgeOptions judging_;
  int pictured_left_ = static_cast<int>(PicturedRecords::kMost);
};

// Operators in both dumps that were not recomputed yet and have a matching output.
template <class Predicate>
std::vector<OperatorResult*> paired(std::span<OperatorResult> operators, Predicate predicate) {
  std::vector<OperatorResult*> found;
  for (OperatorResult& op : operators) {
    const bool is_paired = op.actual != nullptr && op.expected != nullptr;
    if (is_paired && op.actual_judged == nullptr && predicate(op)) found.push_back(&op);
  }
  return found;
}

}  // namespace

Explain parse_explain(std::string_view text) {
  if (text == "all") return Explain::all;
  if (text == "failing") return Explain::failing;
  if (text == "none") return Explain::none;
  throw Error(fmt::format("--explain is '{}'; it must be all, failing or none", text));
}

void explain(Comparison& comparison, DumpSource& actual, DumpSource& expected,
             const ExplainOptions& options) {
  if (options.which == Explain::none) return;
  comparison.is_explained = true;
  Explanation explanation(comparison, actual, expected, options);
  const std::span operators(comparison.operators);
  explanation.explain(paired(operators, [&](const OperatorResult& op) {
    return options.which == Explain::all || has_output(op, is_suspect);
  }));
  if (comparison.is_partial || first_introduced(comparison)) return;
  // An error may begin within the tolerances and grow beyond them.
  const std::size_t first = first_departure(comparison).value_or(0);
  explanation.explain(paired(operators.first(first), [](const OperatorResult& op) {
    return has_output(op, is_different);
  }));
}

}  // namespace opbench
