#include "profiles/case_file_text.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <ostream>

#include "profiles/network_cases.h"
#include "tensor/printable.h"
#include "text/excerpt.h"
#include "text/shortened.h"

namespace opbench {
namespace {

std::string yaml_word(std::string_view text) {
  std::string all = "'";
  for (const char letter : printable(text)) {
    if (letter == '\'') all += '\'';
    all += letter;
  }
  return all + "'";
}

std::string input_text(const CaseInput& input) {
  const std::string shape = fmt::format("[{}]", fmt::join(input.shape, ", "));
  if (!input.dtype) return shape;
  return fmt::format("{{shape: {}, dtype: {}}}", shape, name(*input.dtype));
}

std::string value_text(const AttrValue& value) {
  const bool is_word = std::holds_alternative<std::string>(value);
  return is_word ? yaml_word(to_string(value)) : to_string(value);
}

void write_case(std::ostream& out, const NetworkCase& one) {
  const Case& c = one.spec;
  constexpr std::size_t kLongestName = 100;
  out << fmt::format("  # {}:{}{}{}\n", printable(one.first.file), one.first.line,
                     one.first_name.empty() ? "" : " ",
                     printable(excerpt(one.first_name, kLongestName)));
  for (const std::string& note : one.notes) out << fmt::format("  # {}\n", printable(note));
  std::vector<std::string> inputs;
  for (const CaseInput& input : c.inputs) inputs.push_back(input_text(input));
  out << fmt::format("  - {{name: {}, op: {}, inputs: [{}]{},\n", yaml_word(c.name), c.op->name,
                     fmt::join(inputs, ", "), attrs_text(c));
  out << fmt::format("     dtypes: [{}], formats: [{}], count: {}", name(c.dtype), name(c.format),
                     c.count);
  if (c.weight_us > 0) out << fmt::format(", weight_us: {}", c.weight_us);
  out << "}\n";
}

std::string share_text(const NetworkCases& cases) {
  return fmt::format("{} cases cover {:.1f} % of the {}", cases.cases.size(),
                     100 * cases.covered_share(), cases.is_timed ? "device time" : "logged calls");
}

void print_list(ReportLines& lines, const NetworkCases& cases,
                const std::vector<UncoveredType>& list, std::string_view title) {
  if (list.empty()) return;
  lines.text(title);
  for (std::size_t i = 0; i < lines.layout().rows(list.size()); ++i) {
    const UncoveredType& one = list[i];
    const double whole = static_cast<double>(cases.is_timed ? cases.whole_ps : cases.whole_calls);
    const double part = static_cast<double>(cases.is_timed ? one.total_ps : one.count);
    constexpr std::size_t kLongestReason = 36;
    const std::string reason = printable(one.reason);
    lines.row(fmt::format("  {:>6.2f}% {:>7}  ", whole == 0 ? 0 : 100 * part / whole, one.count),
              printable(one.type),
              ": " + (lines.layout().is_wide ? reason : shortened(reason, kLongestReason)));
  }
  lines.rest(list.size());
}

}  // namespace

std::string attrs_text(const Case& c) {
  std::string text;
  for (const AttrSpec& spec : c.op->attrs) {
    const AttrValue& value = c.attrs.values().at(std::string(spec.name));
    if (value == spec.default_value) continue;
    text += fmt::format("{}{}: {}", text.empty() ? "" : ", ", spec.name, value_text(value));
  }
  return text.empty() ? "" : fmt::format(", attrs: {{{}}}", text);
}

std::string why_no_cases(const NetworkCases& cases) {
  const std::vector<UncoveredType>& list =
      cases.uncovered.empty() ? cases.dropped : cases.uncovered;
  if (list.empty()) return "no operator is in what was read";
  constexpr std::size_t kLongest = 100;
  const UncoveredType& most = list.front();
  return fmt::format(
      "no operator of {} can be one; {}: {}. A table or log with shapes gives cases: "
      "kernel_details.csv of level 1, op_summary*.csv, a trace with record_shapes, plog-*.log",
      cases.whole_calls == 1 ? "one call" : fmt::format("{} calls", cases.whole_calls),
      excerpt(most.type, kLongest), excerpt(most.reason, kLongest));
}

void print_network_cases(std::ostream& out, const NetworkCases& cases, const ReportLayout& layout) {
  ReportLines lines(out, layout);
  const auto unknown = std::count_if(cases.cases.begin(), cases.cases.end(),
                                     [](const NetworkCase& one) { return !one.are_attrs_known; });
  lines.blank();
  lines.text(share_text(cases) +
             (unknown > 0 ? fmt::format("; of {} the attributes are unknown", unknown) : ""));
  if (layout.is_quiet) return;
  print_list(lines, cases, cases.uncovered, "Not covered, share and count:");
  print_list(lines, cases, cases.dropped, "Left out, share and count:");
}

void write_case_file(std::ostream& out, const NetworkCases& cases,
                     const std::vector<IngestedFile>& sources) {
  out << "# Operators of a network, made by `opbench ingest --cases` from\n";
  for (const IngestedFile& file : sources) out << fmt::format("#   {}\n", printable(file.path));
  out << fmt::format("# {}. count: calls in all of it", share_text(cases));
  out << (cases.is_timed ? "; weight_us: what they took.\n" : ".\n");
  for (const UncoveredType& one : cases.uncovered) {
    out << fmt::format("# not covered: {} of {}: {}\n", one.count, printable(one.type),
                       printable(one.reason));
  }
  out << "cases:" << (cases.cases.empty() ? " []" : "") << '\n';
  for (const NetworkCase& one : cases.cases) write_case(out, one);
}

}  // namespace opbench
