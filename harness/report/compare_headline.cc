#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "compare/jumps.h"
#include "compare/operator_error.h"
#include "harness/report/compare_page.h"
#include "judge/causes.h"

namespace opbench::report {
namespace {

// "14.5x", "4.1e+06x"
std::string jump_text(double jump) {
  if (std::isinf(jump)) return "beyond all";
  return jump < 1000 ? fmt::format("{:.3g}x", jump) : fmt::format("{:.1e}x", jump);
}

// "Cast, call 7, is only in npu.h5": what has no partner just before an operator, or just after.
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

// Where its error comes from, and its worst tensor.
void print_details(const ComparisonPage& page, const OperatorResult& op) {
  if (op.origin != Origin::none) {
    page.paragraph(op.origin == Origin::unknown
                       ? fmt::format("origin unknown: {}", op.explanation)
                       : fmt::format("{}: {}", name(op.origin), op.explanation),
                   2);
  }
  if (const TensorResult* worst = worst_tensor(op); worst != nullptr) {
    page.paragraph(tensor_text(*worst), 2);
    page.paragraph(worst->entry().path, 2);
    print_causes(page, *worst, 2);
  }
}

// What stands out, whatever tolerances say.
void print_jump(const ComparisonPage& page) {
  const auto found = first_jump(page.comparison);
  if (!found) return;
  const OperatorResult& op = page.comparison.operators[*found];
  page.heading(
      fmt::format("Stands out: {}: {} its inputs and neighbours", label(op), jump_text(*op.jump)));
  page.paragraph(fmt::format("its outputs are off by {} of their size; usual here is {}",
                             error_text(sum_error(op, Side::output)), error_text(op.usual_error)),
                 2);
  print_details(page, op);
  print_unpaired_near(page, *found);
}

// Errors that grow evenly are two devices' arithmetic.
void print_even(const ComparisonPage& page, const ComparisonCounts& counts) {
  if (counts.failed == 0 || first_jump(page.comparison)) return;
  page.out << '\n';
  page.paragraph(
      "No operator stands out: none is much further off than its inputs and neighbours.");
}

void print_fp16_operands(const ComparisonPage& page) {
  const Comparison& c = page.comparison;
  if (c.standard.kind == StandardKind::fp16_cube || !has_fp16_operands(c)) return;
  page.paragraph(
      "Convolutions and products differ as fp16 operands do: --standard fp16-cube holds them to "
      "that, --fail-on jump fails only where an operator stands out.");
}

// Where the error that the first departure got came from. What draws random numbers may fail
// before, and an error may grow below the tolerances.
std::string source_of_inputs(const Comparison& comparison, std::size_t first) {
  for (std::size_t i = first; i-- > 0;) {
    const OperatorResult& before = comparison.operators[i];
    if (before.verdict != Verdict::failed) continue;
    return fmt::format("Before it only what draws random numbers fails, last {}.", label(before));
  }
  for (std::size_t i = 0; i < first; ++i) {
    if (comparison.operators[i].output_error.value_or(0) == 0) continue;
    return "No operator before it fails; what its inputs are off by came in below the tolerances, "
           "or "
           "from outside of the dumps.";
  }
  return "No operator before it fails, so its inputs differ from outside of the dumps.";
}

void print_first(const ComparisonPage& page) {
  const auto first = first_departure(page.comparison);
  if (!first || first == first_jump(page.comparison)) return;
  const OperatorResult& op = page.comparison.operators[*first];
  page.heading(fmt::format("First beyond its tolerance: {}", label(op)));
  print_details(page, op);
  if (op.origin == Origin::inherited || op.origin == Origin::amplified) {
    page.paragraph(source_of_inputs(page.comparison, *first), 2);
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

void print_causes(const ComparisonPage& page, const TensorResult& tensor, std::size_t indent) {
  for (const Cause& cause : tensor.causes) {
    page.paragraph(looks_like(cause), indent);
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
  print_jump(page);
  print_even(page, counts);
  print_fp16_operands(page);
  print_first(page);
}

}  // namespace opbench::report
