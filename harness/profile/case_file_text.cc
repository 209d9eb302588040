#include "harness/profile/case_file_text.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <ostream>

#include "harness/profile/network_cases.h"
#include "tensor/printable.h"
#include "text/excerpt.h"

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

void print_list(std::ostream& out, const NetworkCases& cases,
                const std::vector<UncoveredType>& list, std::string_view title, std::size_t top) {
  if (list.empty()) return;
  out << title << '\n';
  const std::size_t shown = top == 0 ? list.size() : std::min(top, list.size());
  for (std::size_t i = 0; i < shown; ++i) {
    const UncoveredType& one = list[i];
    const double whole = static_cast<double>(cases.is_timed ? cases.whole_ps : cases.whole_calls);
    const double part = static_cast<double>(cases.is_timed ? one.total_ps : one.count);
    constexpr std::size_t kLongest = 120;
    out << fmt::format("  {:>6.2f}% {:>7}  {}: {}\n", whole == 0 ? 0 : 100 * part / whole,
                       one.count, printable(excerpt(one.type, kLongest)),
                       printable(excerpt(one.reason, kLongest)));
  }
  if (list.size() > shown) out << fmt::format("  and {} more\n", list.size() - shown);
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

void print_network_cases(std::ostream& out, const NetworkCases& cases, std::size_t top) {
  const auto unknown = std::count_if(cases.cases.begin(), cases.cases.end(),
                                     [](const NetworkCase& one) { return !one.are_attrs_known; });
  out << '\n' << share_text(cases);
  if (unknown > 0) out << fmt::format("; of {} the attributes are unknown", unknown);
  out << '\n';
  print_list(out, cases, cases.uncovered, "Not covered, share and count:", top);
  print_list(out, cases, cases.dropped, "Left out, share and count:", top);
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
