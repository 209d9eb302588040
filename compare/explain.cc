#include "compare/explain.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <memory>
#include <set>
#include <utility>
#include <vector>

#include "compare/analysis.h"
#include "compare/differing_numbers.h"
#include "tensor/error.h"

namespace opbench {
namespace {

bool has_failing_output(const OperatorResult& op) {
  return std::any_of(op.tensors.begin(), op.tensors.end(), [](const TensorResult& tensor) {
    return tensor.entry().side == Side::output && tensor.judgement.verdict == Verdict::failed;
  });
}

// A standard may let some elements of a tensor be off: those may be an error all the same.
bool has_suspect_output(const OperatorResult& op) {
  return std::any_of(op.tensors.begin(), op.tensors.end(), [](const TensorResult& tensor) {
    const bool is_suspect = tensor.judgement.verdict == Verdict::failed ||
                            (tensor.is_measured && tensor.stats.inside < tensor.stats.count);
    return tensor.entry().side == Side::output && is_suspect;
  });
}

bool has_different_output(const OperatorResult& op) {
  return std::any_of(op.tensors.begin(), op.tensors.end(), [](const TensorResult& tensor) {
    return tensor.entry().side == Side::output && tensor.is_measured && tensor.stats.unequal > 0;
  });
}

bool is_guilty(const JudgedRecord* judged) {
  return judged != nullptr && judged->ruling == Ruling::guilty;
}

const OutputFinding* finding_on(const JudgedRecord& judged, const DumpEntry& entry) {
  const auto found =
      std::find_if(judged.findings.begin(), judged.findings.end(),
                   [&](const OutputFinding& finding) { return finding.path == entry.path; });
  return found == judged.findings.end() ? nullptr : &*found;
}

// A load mode's record: its outputs under the names that the other dump gives them, of the other's
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

// Every output that fails was recomputed.
bool covers_failures(const OperatorResult& op, const JudgedRecord& actual,
                     const JudgedRecord& expected) {
  return std::all_of(op.tensors.begin(), op.tensors.end(), [&](const TensorResult& tensor) {
    const auto [a, e] = tensor.match;
    if (tensor.entry().side != Side::output || tensor.judgement.verdict != Verdict::failed) {
      return true;
    }
    return a != nullptr && e != nullptr && finding_on(actual, *a) != nullptr &&
           finding_on(expected, *e) != nullptr;
  });
}

bool has_same_inputs(const OperatorResult& op) {
  return std::all_of(op.tensors.begin(), op.tensors.end(), [](const TensorResult& tensor) {
    const bool is_input = tensor.entry().side == Side::input;
    return !is_input || (tensor.is_measured && tensor.stats.unequal == 0);
  });
}

// " (npu.h5: fp16 operands)": the arithmetic that each side is right for, where it is not plain.
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

// "gpu.h5 is right for its", "nothing is known of gpu.h5: ..."
std::string other_text(const JudgedRecord& judged, const std::string& side) {
  if (judged.ruling == Ruling::ok) return fmt::format("{} is right for its", side);
  return fmt::format("nothing is known of {}: {}", side, judged.reason);
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

// Why an operator was not recomputed: "no operator of that name is known".
std::string unknown_text(const JudgedRecord& actual, const JudgedRecord& expected) {
  for (const JudgedRecord* judged : {&actual, &expected}) {
    if (judged->ruling == Ruling::random) return "it draws random numbers";
    if (!judged->reason.empty()) return "not recomputed: " + judged->reason;
  }
  return "what fails of it cannot be recomputed";
}

/// Recomputes operators of one comparison.
class Explanation {
 public:
  Explanation(Comparison& comparison, DumpSource& actual, DumpSource& expected,
              const ExplainOptions& options)
      : comparison_(comparison), actual_(actual), expected_(expected), options_(options) {}

  void explain(OperatorResult& op) {
    JudgedRecord actual = judge_actual(op);
    JudgedRecord expected =
        judge_record(expected_, *op.expected, *options_.table, options_.judging);
    settle(op, actual, expected);
    fail_wrong(op, actual, expected);
    op.actual_judged = kept(std::move(actual));
    op.expected_judged = kept(std::move(expected));
    show_wrong(op);
  }

 private:
  JudgedRecord judge_actual(const OperatorResult& op) {
    if (!comparison_.is_load_mode) {
      return judge_record(actual_, *op.actual, *options_.table, options_.judging);
    }
    return judge_record({expected_, actual_}, with_inputs_of_expected(op), *options_.table,
                        options_.judging);
  }

  // Of 40,000 calls only what is wrong is told in full, and the first pictures.
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
    } else if (!has_failing_output(op)) {
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

  // Both sides are right.
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

  // An output that is wrong for its inputs fails, though it be inside the standard of the pair.
  static void fail_wrong(OperatorResult& op, const JudgedRecord& actual,
                         const JudgedRecord& expected) {
    for (TensorResult& tensor : op.tensors) {
      const auto [a, e] = tensor.match;
      if (tensor.judgement.verdict == Verdict::failed) continue;
      const OutputFinding* found = a != nullptr ? finding_on(actual, *a) : nullptr;
      if ((found == nullptr || !found->is_wrong) && e != nullptr) found = finding_on(expected, *e);
      if (found == nullptr || !found->is_wrong) continue;
      tensor.judgement = {Verdict::failed, found->reason};
      op.verdict = Verdict::failed;
    }
  }

  // What is off in the actual dump is told by what it should have been of its own inputs.
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
  int pictured_left_ = static_cast<int>(PicturedRecords::kMost);
};

// False if it was stopped.
bool explain_each(const std::vector<OperatorResult*>& operators, Explanation& explanation,
                  const ExplainOptions& options) {
  for (std::size_t i = 0; i < operators.size(); ++i) {
    if (options.stop && options.stop()) return false;
    if (options.progress) options.progress(i, operators.size());
    explanation.explain(*operators[i]);
  }
  return true;
}

// An error may enter inside the tolerances and grow beyond them: where nobody who fails is wrong,
// those that pass before the first of them are asked, too.
std::vector<OperatorResult*> before_first_failure(Comparison& comparison) {
  const auto first = first_departure(comparison);
  std::vector<OperatorResult*> before;
  for (std::size_t i = 0; i < first.value_or(0); ++i) {
    OperatorResult& op = comparison.operators[i];
    const bool is_asked = op.actual != nullptr && op.expected != nullptr &&
                          op.actual_judged == nullptr && has_different_output(op);
    if (is_asked) before.push_back(&op);
  }
  return before;
}

}  // namespace

Explain parse_explain(std::string_view text) {
  if (text == "all") return Explain::all;
  if (text == "failing") return Explain::failing;
  if (text == "none") return Explain::none;
  throw Error(fmt::format("--explain is '{}'; it must be all, failing or none", text));
}

bool is_wrong_in_actual(const OperatorResult& op) { return is_guilty(op.actual_judged.get()); }

bool is_wrong_in_expected(const OperatorResult& op) { return is_guilty(op.expected_judged.get()); }

void explain(Comparison& comparison, DumpSource& actual, DumpSource& expected,
             const ExplainOptions& options) {
  if (options.which == Explain::none) return;
  comparison.is_explained = true;
  Explanation explanation(comparison, actual, expected, options);
  std::vector<OperatorResult*> asked;
  for (OperatorResult& op : comparison.operators) {
    if (op.actual == nullptr || op.expected == nullptr) continue;
    if (options.which == Explain::all || has_suspect_output(op)) asked.push_back(&op);
  }
  if (!explain_each(asked, explanation, options)) comparison.is_partial = true;
  if (options.which == Explain::all || comparison.is_partial || first_introduced(comparison))
    return;
  if (!explain_each(before_first_failure(comparison), explanation, options)) {
    comparison.is_partial = true;
  }
}

}  // namespace opbench
