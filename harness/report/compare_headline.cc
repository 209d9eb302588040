#include <fmt/format.h>

#include <algorithm>

#include "compare/judge_dump.h"
#include "harness/report/compare_page.h"
#include "judge/causes.h"

namespace opbench::report {
namespace {

// Calls without a partner just before or after an operator: "Cast, call 7, is only in npu.h5".
void print_unpaired_near(const ComparisonPage& page, std::size_t index) {
  constexpr std::size_t kNear = 2;
  const auto& operators = page.comparison.operators;
  const std::size_t first = index < kNear ? 0 : index - kNear;
  for (std::size_t i = first; i < std::min(index + kNear + 1, operators.size()); ++i) {
    const OperatorResult& op = operators[i];
    if (op.op().empty() || (op.actual != nullptr && op.expected != nullptr)) continue;
    const ComparedFile& file =
        op.actual != nullptr ? page.comparison.actual : page.comparison.expected;
    page.paragraph(fmt::format("Next to it: {} is only in {}", label(op), file.path), 2);
  }
}

void print_origin(const ComparisonPage& page, const OperatorResult& op) {
  if (op.origin == Origin::none) return;
  page.paragraph(op.origin == Origin::unknown
                     ? fmt::format("origin unknown: {}", op.explanation)
                     : fmt::format("{}: {}", name(op.origin), op.explanation),
                 2);
}

// Prints the origin of an operator's error, and its worst tensor.
void print_details(const ComparisonPage& page, const OperatorResult& op) {
  print_origin(page, op);
  if (const TensorResult* worst = worst_tensor(op); worst != nullptr) {
    page.paragraph(tensor_text(*worst), 2);
    page.paragraph(worst->entry().path, 2);
    for (const Cause& cause : worst->causes) page.paragraph(looks_like(cause), 2);
  }
}

// Prints the worst output of a record that is wrong for its own inputs: size, place and causes.
void print_finding(const ComparisonPage& page, const JudgedRecord& judged) {
  const OutputFinding& finding = *judged.worst();
  page.paragraph(finding.reason, 2);
  page.paragraph(finding.path, 2);
  if (!finding.pattern.empty()) page.paragraph(finding.pattern, 2);
  for (const Cause& cause : finding.causes) page.paragraph(looks_like(cause), 2);
}

void print_introduced(const ComparisonPage& page) {
  const auto found = first_introduced(page.comparison);
  if (!found) return;
  const OperatorResult& op = page.comparison.operators[*found];
  page.heading(fmt::format("Introduced at {}", label(op)));
  page.paragraph(op.explanation, 2);
  for (const JudgedRecord* judged : {op.actual_judged.get(), op.expected_judged.get()}) {
    if (is_guilty(judged)) print_finding(page, *judged);
  }
  print_unpaired_near(page, *found);
}

// Operators that could not be recomputed may hide an error.
void print_unknown(const ComparisonPage& page, const ComparisonCounts& counts) {
  const auto& operators = page.comparison.operators;
  const auto first = std::find_if(operators.begin(), operators.end(), [](const OperatorResult& op) {
    return op.verdict == Verdict::failed && op.origin == Origin::unknown;
  });
  if (!page.comparison.is_explained || first == operators.end()) return;
  page.out << '\n';
  page.paragraph(
      fmt::format("Of {} of {} operators that fail ({:.0f} %) the origin is unknown, "
                  "first {}: {}",
                  counts.unknown, counts.failed_operators,
                  100 * double(counts.unknown) / double(counts.failed_operators), label(*first),
                  first->explanation));
}

// States that no operator is wrong: rounding explains the difference.
void print_innocence(const ComparisonPage& page, const ComparisonCounts& counts) {
  if (!page.comparison.is_explained || counts.failed == 0 || counts.introduced > 0) return;
  page.out << '\n';
  page.paragraph(counts.unknown == 0 ? "No operator is wrong for its inputs."
                                     : "No operator that was recomputed is wrong for its inputs.");
}

// The source of the error in the inputs of the first departure. Operators that draw random numbers
// may fail before it, and an error may grow below the tolerances.
std::string source_of_inputs(const Comparison& comparison, std::size_t first) {
  for (std::size_t i = first; i-- > 0;) {
    const OperatorResult& before = comparison.operators[i];
    if (before.verdict != Verdict::failed) continue;
    return fmt::format("Before it only operators that draw random numbers fail, last {}.",
                       label(before));
  }
  for (std::size_t i = 0; i < first; ++i) {
    if (comparison.operators[i].output_error.value_or(0) == 0) continue;
    return "No operator before it fails; its input error accumulated below the tolerances, or "
           "predates the dumps.";
  }
  return "No operator before it fails, so its input error predates the dumps.";
}

void print_first(const ComparisonPage& page) {
  const auto first = first_departure(page.comparison);
  const auto introduced = first_introduced(page.comparison);
  if (!first || first == introduced) return;
  const OperatorResult& op = page.comparison.operators[*first];
  const bool enters_here = page.comparison.is_explained && !introduced;
  page.heading(fmt::format("{}: {}",
                           enters_here ? "The difference enters at" : "First beyond its tolerance",
                           label(op)));
  print_details(page, op);
  if (op.origin == Origin::inherited) {
    page.paragraph(source_of_inputs(page.comparison, *first), 2);
  }
  if (!page.comparison.is_explained) {
    page.paragraph("Nothing was recomputed; next: --explain failing", 2);
  }
  print_unpaired_near(page, *first);
}

bool looks_like_it(const OperatorResult& op, const Cause& cause) {
  const std::vector<Cause>& causes = worst_tensor(op)->causes;
  return std::any_of(causes.begin(), causes.end(),
                     [&](const Cause& other) { return other.text == cause.text; });
}

}  // namespace

void print_shared_causes(const ComparisonPage& page,
                         const std::vector<const OperatorResult*>& operators, std::size_t which,
                         std::size_t indent) {
  constexpr std::size_t kNamed = 3;
  for (const Cause& cause : worst_tensor(*operators[which])->causes) {
    std::vector<std::size_t> alike;
    for (std::size_t i = 0; i < operators.size(); ++i) {
      if (looks_like_it(*operators[i], cause)) alike.push_back(i);
    }
    if (alike.front() != which) continue;
    page.paragraph(looks_like(cause), indent);
    if (alike.size() == 1) continue;
    std::string names;
    for (std::size_t i = 1; i < std::min(alike.size(), kNamed + 1); ++i) {
      names += fmt::format("{}{}", i == 1 ? "" : "; ", label(*operators[alike[i]]));
    }
    const std::size_t unnamed = alike.size() - std::min(alike.size(), kNamed + 1);
    if (unnamed > 0) names += fmt::format("; and {} more", unnamed);
    page.paragraph("The same: " + names, indent);
  }
}

std::string label(const OperatorResult& op) {
  if (op.op().empty()) return op.note;
  std::string text = fmt::format("{}, call {}", op.op(), op.seq());
  const std::string module = op.recorded_note("opbench_module");
  const std::string source = op.recorded_note("opbench_source");
  if (!module.empty()) text += ", in " + module;
  if (!source.empty()) text += ", " + source;
  return text;
}

std::string error_text(const std::optional<double>& error) {
  if (!error) return "-";
  return *error == 0 ? "0" : fmt::format("{:.2e}", *error);
}

std::string tensor_text(const TensorResult& tensor) {
  return fmt::format("{} {}: {}", name(tensor.entry().side), tensor.entry().name,
                     tensor.judgement.reason);
}

void print_headline(const ComparisonPage& page, const ComparisonCounts& counts) {
  print_introduced(page);
  print_innocence(page, counts);
  print_first(page);
  print_unknown(page, counts);
}

}  // namespace opbench::report
