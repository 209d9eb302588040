#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstdlib>
#include <ostream>

#include "compare/analysis.h"
#include "compare/jumps.h"
#include "compare/operator_error.h"
#include "harness/report/compare.h"
#include "harness/report/compare_fields.h"
#include "tensor/printable.h"
#include "tensor/utf8.h"
#include "text/console_colour.h"
#include "text/wrapped.h"

namespace opbench::report {
namespace {

constexpr std::size_t kWidth = 80;

/// What the parts of the report write to.
struct Page {
  std::ostream& out;
  const Comparison& comparison;
  std::size_t top;
  const ConsoleStyle& style;

  // A paragraph; its lines begin with `indent` spaces.
  void paragraph(std::string_view text, std::size_t indent = 0) const {
    out << std::string(indent, ' ') << wrapped(printable(text), kWidth, indent, indent) << '\n';
  }
  void heading(const std::string& text) const {
    out << '\n' << coloured(wrapped(printable(text), kWidth, 0), kBold, style) << '\n';
  }
};

std::string_view colour_of(Verdict verdict) {
  switch (verdict) {
    case Verdict::passed:
      return kGreen;
    case Verdict::failed:
    case Verdict::unread:
      return kRed;
    case Verdict::mistrusted:
      return kYellow;
    case Verdict::not_compared:
      break;
  }
  return kDim;
}

std::string upper(std::string_view text) {
  std::string result(text);
  std::transform(result.begin(), result.end(), result.begin(),
                 [](unsigned char letter) { return static_cast<char>(std::toupper(letter)); });
  return result;
}

// "ReluBackward0, call 7"
std::string label(const OperatorResult& op) {
  return op.op().empty() ? op.note : fmt::format("{}, call {}", op.op(), op.seq());
}

std::string error_text(const std::optional<double>& error) {
  if (!error) return "-";
  return *error == 0 ? "0" : fmt::format("{:.2e}", *error);
}

// Without an error in the inputs there is no factor.
std::string factor_text(const OperatorResult& op) {
  if (!op.amplification || op.input_error == 0) return "-";
  const double factor = *op.amplification;
  return factor < 1000 ? fmt::format("{:.3g}x", factor)
                       : fmt::format("{:.0e}{}", factor, std::isinf(factor) ? "" : "x");
}

std::string_view short_name(Origin origin) {
  if (origin == Origin::introduced) return "introduced";
  if (origin == Origin::amplified) return "amplified";
  return name(origin);
}

// At most `most` columns of a name, its end, which tells more than its start.
std::string shortened(const std::string& name, std::size_t most) {
  if (name.size() <= most) return name;
  // Not in the middle of a letter.
  std::size_t start = name.size() - (most - 3);
  while (start < name.size() && continues_utf8(name[start])) ++start;
  return "..." + name.substr(start);
}

// "1 operator", "2 operators"
std::string counted(std::int64_t count, std::string_view what) {
  return fmt::format("{} {}{}", count, what, count == 1 ? "" : "s");
}

std::string tensor_text(const TensorResult& tensor) {
  return fmt::format("{} {}: {}", name(tensor.entry().side), tensor.entry().name,
                     tensor.judgement.reason);
}

// "UNREAD 3 of 80"
std::string unread_text(const ComparisonCounts& counts) {
  return fmt::format("UNREAD {} of {}", counts.unread, counts.unread + counts.compared());
}

std::string verdict_text(const ComparisonCounts& counts) {
  const Verdict verdict = verdict_of(counts);
  if (verdict == Verdict::unread) return unread_text(counts);
  return verdict == Verdict::not_compared ? "NOTHING COMPARED" : upper(name(verdict));
}

void print_verdict(const Page& page, const ComparisonCounts& counts) {
  const Comparison& c = page.comparison;
  const std::string word = verdict_text(counts);
  std::string rest = fmt::format(": {} against {}", c.actual.path, c.expected.path);
  if (c.golden) rest += fmt::format(", golden {}", c.golden->path);
  rest = printable(fmt::format("{}, standard {}", rest, to_string(c.standard)));
  page.out << coloured(word, colour_of(verdict_of(counts)), page.style)
           << wrapped(rest, kWidth, 0, word.size()) << '\n';
  if (counts.failed > 0 && counts.unread > 0) {
    page.out << coloured(unread_text(counts) + " tensors", kRed, page.style) << '\n';
  }
  if (c.is_partial) {
    page.out << coloured(wrapped("PARTIAL: stopped before its end; what was not reached counts as "
                                 "not compared",
                                 kWidth, 0),
                         kYellow, page.style)
             << '\n';
  }
  if (c.is_load_mode) {
    page.paragraph("Load mode: the first file holds outputs only, of runs on the second's inputs.");
    if (c.number_shift) {
      page.paragraph(
          fmt::format("The numbers of calls differ by {}: most of {} would pair with those of {} "
                      "if its numbers "
                      "were {} {}.",
                      std::abs(*c.number_shift), c.actual.path, c.expected.path,
                      std::abs(*c.number_shift), *c.number_shift > 0 ? "smaller" : "larger"));
    }
  }
}

// "14.5x", "4.1e+06x"
std::string jump_text(double jump) {
  if (std::isinf(jump)) return "beyond all";
  return jump < 1000 ? fmt::format("{:.3g}x", jump) : fmt::format("{:.1e}x", jump);
}

// "Cast, call 7, is only in npu.h5": what has no partner just before an operator, or just after.
void print_unpaired_near(const Page& page, std::size_t index) {
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
void print_details(const Page& page, const OperatorResult& op) {
  if (op.origin != Origin::none) {
    page.paragraph(op.origin == Origin::unknown
                       ? fmt::format("origin unknown: {}", op.explanation)
                       : fmt::format("{}: {}", name(op.origin), op.explanation),
                   2);
  }
  if (const TensorResult* worst = worst_tensor(op); worst != nullptr) {
    page.paragraph(tensor_text(*worst), 2);
    page.paragraph(worst->entry().path, 2);
  }
}

// What stands out, whatever tolerances say.
void print_jump(const Page& page) {
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
void print_even(const Page& page, const ComparisonCounts& counts) {
  if (counts.failed == 0 || first_jump(page.comparison)) return;
  page.out << '\n';
  page.paragraph(
      "No operator stands out: none is much further off than its inputs and neighbours.");
}

void print_fp16_operands(const Page& page) {
  const Comparison& c = page.comparison;
  if (c.standard.kind == StandardKind::fp16_cube || !has_fp16_operands(c)) return;
  page.paragraph(
      "Convolutions and products differ as fp16 operands do: --standard fp16-cube holds them to "
      "that, --fail-on jump fails only where an operator stands out.");
}

void print_first(const Page& page) {
  const auto first = first_departure(page.comparison);
  if (!first || first == first_jump(page.comparison)) return;
  const OperatorResult& op = page.comparison.operators[*first];
  page.heading(fmt::format("First beyond its tolerance: {}", label(op)));
  print_details(page, op);
  if (op.origin == Origin::inherited || op.origin == Origin::amplified) {
    page.paragraph("No operator before it fails, so its inputs differ from outside of the dumps.",
                   2);
  }
  print_unpaired_near(page, *first);
}

/// How many operators have an origin, and how that is said of one and of several.
struct OriginCount {
  std::int64_t count;
  std::string_view one, several;
};

// "2 operators fail: 1 introduces an error, 1 amplifies one"
void print_origins(const Page& page, const ComparisonCounts& counts) {
  if (counts.failed_operators == 0) return;
  const OriginCount origins[] = {
      {counts.introduced, "introduces an error", "introduce an error"},
      {counts.amplified, "amplifies one", "amplify one"},
      {counts.inherited, "inherits one", "inherit one"},
      {counts.repaired, "repairs one", "repair one"},
      {counts.unknown, "of unknown origin", "of unknown origin"},
  };
  std::string text;
  for (const OriginCount& origin : origins) {
    if (origin.count == 0) continue;
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", origin.count,
                        origin.count == 1 ? origin.one : origin.several);
  }
  page.out << '\n';
  page.paragraph(fmt::format("{} fail{}: {}", counted(counts.failed_operators, "operator"),
                             counts.failed_operators == 1 ? "s" : "", text));
}

void print_titles(const Page& page) {
  const std::string titles = fmt::format("  {:>7} {:<29} {:<10} {:>8} {:>8} {:>7}", "call",
                                         "operator", "origin", "error in", "out", "factor");
  page.out << coloured(titles, kDim, page.style) << '\n';
}

void print_operator(const Page& page, const OperatorResult& op) {
  page.out << fmt::format(
      "  {:>7} {:<29} {:<10} {:>8} {:>8} {:>7}\n", shortened(printable(op.seq()), 7),
      shortened(printable(op.op().empty() ? op.note : op.op()), 29), short_name(op.origin),
      error_text(op.input_error), error_text(op.output_error), factor_text(op));
}

void print_worst(const Page& page) {
  const std::vector<std::size_t> worst = worst_operators(page.comparison);
  const std::size_t shown = std::min(page.top, worst.size());
  if (shown == 0) return;
  page.heading(shown == worst.size()
                   ? std::string("Operators that fail, worst first")
                   : fmt::format("Operators that fail, the worst {} of {}", shown, worst.size()));
  print_titles(page);
  for (std::size_t i = 0; i < shown; ++i) {
    const OperatorResult& op = page.comparison.operators[worst[i]];
    print_operator(page, op);
    page.paragraph(tensor_text(*worst_tensor(op)), 10);
  }
}

void print_amplifying(const Page& page) {
  const std::vector<std::size_t> found = amplifying_operators(page.comparison);
  const std::size_t shown = std::min(page.top, found.size());
  if (shown == 0 || !first_departure(page.comparison)) return;
  page.heading("Operators that amplify errors, the largest factors first");
  print_titles(page);
  for (std::size_t i = 0; i < shown; ++i) {
    print_operator(page, page.comparison.operators[found[i]]);
  }
}

void print_groups(const Page& page, std::string_view title, std::span<const ReasonGroup> groups) {
  if (groups.empty()) return;
  page.heading(std::string(title));
  const std::size_t shown = std::min(std::max<std::size_t>(page.top, 1), groups.size());
  for (const ReasonGroup& group : groups.first(shown)) {
    page.paragraph(
        fmt::format("{}: {}", counted(static_cast<std::int64_t>(group.tensors.size()), "tensor"),
                    group.reason.empty() ? "no reason" : group.reason),
        2);
    constexpr std::size_t kExamples = 2;
    for (std::size_t i = 0; i < std::min(kExamples, group.tensors.size()); ++i) {
      page.paragraph(group.tensors[i]->entry().path, 4);
    }
    if (group.tensors.size() > kExamples) page.paragraph("...", 4);
  }
  if (shown < groups.size()) {
    const auto rest = static_cast<std::int64_t>(groups.size() - shown);
    page.paragraph(fmt::format("and {}", counted(rest, "more reason")), 2);
  }
}

void print_problems(const Page& page) {
  const Comparison& c = page.comparison;
  for (const ComparedFile* file : {&c.actual, &c.expected, c.golden ? &*c.golden : nullptr}) {
    if (file == nullptr || file->problems.empty()) continue;
    page.heading(fmt::format("Left out of {}", file->path));
    const std::size_t shown = std::min(std::max<std::size_t>(page.top, 1), file->problems.size());
    for (std::size_t i = 0; i < shown; ++i) page.paragraph(file->problems[i], 2);
    if (shown < file->problems.size()) {
      page.paragraph(fmt::format("and {} more", file->problems.size() - shown), 2);
    }
  }
}

}  // namespace

void print_comparison(std::ostream& out, const Comparison& comparison, std::size_t top,
                      const ConsoleStyle& style) {
  const Page page{out, comparison, top, style};
  const ComparisonCounts counts = count(comparison);
  print_verdict(page, counts);
  print_jump(page);
  print_even(page, counts);
  print_fp16_operands(page);
  print_first(page);
  print_origins(page, counts);
  print_worst(page);
  print_amplifying(page);
  print_groups(page, "Could not be read", by_reason(comparison, Verdict::unread));
  print_groups(page, "Not compared", by_reason(comparison, Verdict::not_compared));
  print_groups(page, "Mistrusted: a pass that proves little",
               by_reason(comparison, Verdict::mistrusted));
  print_groups(page, "Warnings", by_warning(comparison));
  print_problems(page);
  out << '\n';
  const std::string unread = counts.unread > 0 ? fmt::format("; {} unread", counts.unread) : "";
  page.paragraph(fmt::format(
      "{} compared: {} passed, {} failed, {} mistrusted; {} not compared{}{}",
      counted(counts.compared(), "tensor"), counts.passed, counts.failed, counts.mistrusted,
      counts.not_compared, unread, comparison.is_partial ? "; partial" : ""));
  out.flush();
}

}  // namespace opbench::report
