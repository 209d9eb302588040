#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstdlib>
#include <ostream>

#include "compare/analysis.h"
#include "compare/reason_groups.h"
#include "harness/report/compare.h"
#include "harness/report/compare_page.h"
#include "tensor/utf8.h"
#include "text/fitted.h"
#include "text/table.h"

namespace opbench::report {
namespace {

// There is no factor if the inputs have no error.
std::string factor_text(const OperatorResult& op) {
  if (!op.amplification || op.input_error == 0) return "-";
  const double factor = *op.amplification;
  return factor < 1000 ? fmt::format("{:.3g}x", factor)
                       : fmt::format("{:.0e}{}", factor, std::isinf(factor) ? "" : "x");
}

// "UNREAD 3 of 80"
std::string unread_text(const ComparisonCounts& counts) {
  return fmt::format("UNREAD {} of {}", counts.unread, counts.unread + counts.compared());
}

// The first shifted call, unless it is the first of all.
std::string shift_text(const Comparison& c, const NumberShift& shift) {
  const auto first = std::find_if(c.operators.begin(), c.operators.end(),
                                  [](const OperatorResult& op) { return op.actual != nullptr; });
  const bool is_whole = first == c.operators.end() || first->actual == shift.first;
  const std::int64_t by = std::abs(shift.by);
  return fmt::format(
      "{} of calls differ by {}: most of {} would pair with those of {} if its numbers {}were {} "
      "{}.",
      is_whole ? "The numbers"
               : fmt::format("From /{}/{} on, the numbers", shift.first->op, shift.first->seq_text),
      by, c.actual.path, c.expected.path, is_whole ? "" : "there ", by,
      shift.by > 0 ? "smaller" : "larger");
}

void print_comparison_verdict(const ComparisonPage& page, const ComparisonCounts& counts) {
  const Comparison& c = page.comparison;
  const Verdict verdict = verdict_of(counts);
  std::string rest = fmt::format(": {} against {}", c.actual.path, c.expected.path);
  if (c.golden) rest += fmt::format(", golden {}", c.golden->path);
  page.verdict(verdict == Verdict::unread ? unread_text(counts) : verdict_word(verdict),
               colour_of(verdict), fmt::format("{}, standard {}", rest, to_string(c.standard)));
  if (counts.failed > 0 && counts.unread > 0) {
    page.out << coloured(unread_text(counts) + " tensors", kRed, page.style) << '\n';
  }
  if (c.is_partial) {
    page.out << coloured(wrapped("PARTIAL: stopped before its end; what was not reached counts as "
                                 "not compared",
                                 kComparisonWidth, 0),
                         kYellow, page.style)
             << '\n';
  }
  if (c.is_load_mode) {
    page.paragraph("Load mode: the first file holds outputs only, of runs on the second's inputs.");
    if (c.number_shift) page.paragraph(shift_text(c, *c.number_shift));
  }
}

/// The number of operators with an origin, with the singular and plural verb.
struct OriginCount {
  std::int64_t count;
  std::string_view one, several;
};

// "2 operators fail: 1 introduces an error, 1 inherits one"
void print_origins(const ComparisonPage& page, const ComparisonCounts& counts) {
  if (counts.failed_operators == 0) return;
  const OriginCount origins[] = {
      {counts.introduced, "introduces an error", "introduce an error"},
      {counts.inherited, "inherits one", "inherit one"},
      {counts.rounding, "rounds otherwise", "round otherwise"},
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

TextTable operator_table(const ComparisonPage& page, const std::vector<std::size_t>& operators) {
  constexpr std::size_t kLongestNumber = 7, kLongestName = 28;  // a row has 80 columns at most
  TextTable table{columns_of(">call|operator|origin|>error in|>out|>factor")};
  for (const std::size_t place : operators) {
    const OperatorResult& op = page.comparison.operators[place];
    table.rows.push_back({shortened(printable(op.seq()), kLongestNumber),
                          shortened(printable(op.op().empty() ? op.note : op.op()), kLongestName),
                          std::string(name(op.origin)), error_text(op.input_error),
                          error_text(op.output_error), factor_text(op)});
  }
  return table;
}

void print_worst(const ComparisonPage& page) {
  std::vector<std::size_t> worst = worst_operators(page.comparison);
  const std::size_t all = worst.size();
  worst.resize(std::min(page.top, all));
  if (worst.empty()) return;
  page.heading(worst.size() == all
                   ? std::string("Operators that fail, worst first")
                   : fmt::format("Operators that fail, the worst {} of {}", worst.size(), all));
  const std::vector<std::string> lines = lines_of(operator_table(page, worst), page.style.width, 2);
  page.out << coloured(lines[0], kDim, page.style) << '\n';
  std::vector<const OperatorResult*> operators;
  for (const std::size_t place : worst) operators.push_back(&page.comparison.operators[place]);
  for (std::size_t i = 0; i < worst.size(); ++i) {
    page.out << lines[i + 1] << '\n';
    page.paragraph(tensor_text(*worst_tensor(*operators[i])), 10);
    print_shared_causes(page, operators, i, 10);
  }
}

void print_amplifying(const ComparisonPage& page) {
  std::vector<std::size_t> found = amplifying_operators(page.comparison);
  found.resize(std::min(page.top, found.size()));
  if (found.empty() || !first_departure(page.comparison)) return;
  page.heading("Operators that amplify errors, the largest factors first");
  print_table(page.out, operator_table(page, found), page.style);
}

void print_groups(const ComparisonPage& page, std::string_view title,
                  std::span<const ReasonGroup> groups) {
  if (groups.empty()) return;
  page.heading(std::string(title));
  page.list(
      groups.size(), std::max<std::size_t>(page.top, 1),
      [&](std::size_t i) {
        const ReasonGroup& group = groups[i];
        page.paragraph(fmt::format("{}: {}", counted(group.tensors.size(), "tensor"),
                                   group.reason.empty() ? "no reason" : group.reason),
                       2);
        constexpr std::size_t kExamples = 2;
        const std::span named =
            std::span(group.tensors).first(std::min(kExamples, group.tensors.size()));
        for (const TensorResult* tensor : named) page.paragraph(tensor->entry().path, 4);
        if (group.tensors.size() > kExamples) page.paragraph("...", 4);
      },
      "more reason");
}

void print_problems(const ComparisonPage& page) {
  const Comparison& c = page.comparison;
  for (const ComparedFile* file : {&c.actual, &c.expected, c.golden ? &*c.golden : nullptr}) {
    if (file == nullptr || file->problems.empty()) continue;
    page.heading(fmt::format("Left out of {}", file->path));
    page.list(file->problems.size(), std::max<std::size_t>(page.top, 1),
              [&](std::size_t i) { page.paragraph(file->problems[i], 2); });
  }
}

}  // namespace

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

std::string verdict_word(Verdict verdict) {
  if (verdict == Verdict::not_compared) return "NOTHING COMPARED";
  std::string word(name(verdict));
  std::transform(word.begin(), word.end(), word.begin(),
                 [](unsigned char letter) { return static_cast<char>(std::toupper(letter)); });
  return word;
}

std::string counts_text(const ComparisonCounts& counts, bool is_partial) {
  const std::string unread = counts.unread > 0 ? fmt::format("; {} unread", counts.unread) : "";
  return fmt::format("{} compared: {} passed, {} failed, {} mistrusted; {} not compared{}{}",
                     counted(counts.compared(), "tensor"), counts.passed, counts.failed,
                     counts.mistrusted, counts.not_compared, unread, is_partial ? "; partial" : "");
}

void print_comparison(std::ostream& out, const Comparison& comparison, std::size_t top,
                      const ConsoleStyle& style) {
  const ComparisonPage page{{out, style}, comparison, top};
  const ComparisonCounts counts = count(comparison);
  print_comparison_verdict(page, counts);
  print_headline(page, counts);
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
  page.paragraph(counts_text(counts, comparison.is_partial));
  out.flush();
}

}  // namespace opbench::report
