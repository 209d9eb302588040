#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <ostream>
#include <string>

#include "harness/plan/case.h"
#include "profiles/call_graph.h"
#include "profiles/network_cases.h"
#include "profiles/network_context.h"
#include "tensor/utf8.h"
#include "text/fitted.h"

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

// Attributes that differ from their defaults, as the end of an entry in a case file: ", attrs:
// {stride: [2,2]}". Empty if all have their defaults.
std::string attrs_text(const Case& c) {
  std::string text;
  for (const AttrSpec& spec : c.op->attrs) {
    const AttrValue& value = c.attrs.values().at(std::string(spec.name));
    if (value == spec.default_value) continue;
    text += fmt::format("{}{}: {}", text.empty() ? "" : ", ", spec.name, value_text(value));
  }
  return text.empty() ? "" : fmt::format(", attrs: {{{}}}", text);
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

std::string why_no_cases(const NetworkCases& cases) {
  const std::vector<UncoveredType>& list =
      cases.uncovered.empty() ? cases.dropped : cases.uncovered;
  if (list.empty()) return "the input has no operators";
  constexpr std::size_t kLongest = 100;
  const UncoveredType& most = list.front();
  return fmt::format(
      "no operator of {} can be a case; {}: {}. A table or log with shapes gives cases: "
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
  out << (cases.is_timed ? "; weight_us: their time.\n" : ".\n");
  for (const UncoveredType& one : cases.uncovered) {
    out << fmt::format("# not covered: {} of {}: {}\n", one.count, printable(one.type),
                       printable(one.reason));
  }
  out << "cases:" << (cases.cases.empty() ? " []" : "") << '\n';
  for (const NetworkCase& one : cases.cases) write_case(out, one);
}

namespace {

constexpr std::size_t kLongestShown = 160;

std::string shown(std::string_view text) { return printable(excerpt(text, kLongestShown)); }

// "MatMulV2 (kernel_details.csv:41) aclnnAddmm"
std::string place_of(const NetworkCall& call) {
  return fmt::format("{}{}{}", shown(described(call)), call.name.empty() ? "" : " ",
                     shown(call.name));
}

std::string counts_text(const Neighbourhood& found) {
  return fmt::format(
      "{} nodes; {} edges inferred by shape and dtype, {} of them ambiguous; conversions skipped: "
      "{} "
      "TransData, {} Cast",
      found.nodes.size(), found.edges, found.ambiguous, found.trans_data, found.casts);
}

std::string centre_text(const NetworkContext& context, const ContextWish& wish) {
  const std::string stream =
      context.stream.empty() ? "" : fmt::format(", stream {}", shown(context.stream));
  const NetworkCall& centre = context.calls[context.centre];
  return fmt::format("{}{}{}, line {} of {}{}; depth {}", shown(centre.op->recorded.type),
                     centre.name.empty() ? "" : " ", shown(centre.name), centre.at.line,
                     printable(centre.at.file), stream, wish.depth);
}

std::string input_text(const NeighbourInput& input) {
  const std::string shape = fmt::format("[{}]", fmt::join(input.shape, ", "));
  if (!input.states_dtype && !input.format) return fmt::format("{}: {}", input.name, shape);
  return fmt::format("{}: {{shape: {}{}{}}}", input.name, shape,
                     input.states_dtype ? fmt::format(", dtype: {}", name(input.dtype)) : "",
                     input.format ? fmt::format(", format: {}", name(*input.format)) : "");
}

void write_inputs(std::ostream& out, const Neighbourhood& found, bool parameters) {
  bool is_any = false;
  for (const NeighbourInput& input : found.inputs) {
    if (input.is_parameter != parameters) continue;
    if (!is_any) out << (parameters ? "    parameters:\n" : "    inputs:\n");
    is_any = true;
    out << "      " << input_text(input) << '\n';
  }
}

void write_node(std::ostream& out, const NeighbourNode& node, const NetworkCall& call) {
  out << fmt::format("      # {}\n", place_of(call));
  for (const std::string& note : call.op->built.notes) {
    out << fmt::format("      # {}\n", printable(note));
  }
  if (!node.ambiguous.empty()) {
    out << fmt::format("      # ambiguous: {}\n", fmt::join(node.ambiguous, ", "));
  }
  out << fmt::format("      - {{name: {}, op: {}, in: [{}], out: [{}]{}}}\n", node.name,
                     node.spec.op->name, fmt::join(node.inputs, ", "),
                     fmt::join(node.outputs, ", "), attrs_text(node.spec));
}

}  // namespace

void write_context_file(std::ostream& out, const NetworkContext& context, const ContextWish& wish) {
  const Neighbourhood& found = context.found;
  out << "# An operator of a network and its neighbours, made by `opbench ingest --context`:\n";
  out << fmt::format("# {}\n# {}.\n", centre_text(context, wish), counts_text(found));
  for (const std::string& text : found.left_out)
    out << fmt::format("# left out: {}\n", shown(text));
  out << fmt::format("contexts:\n  - name: around_{}\n    dtypes: [{}]\n", context.found.centre,
                     name(found.dtype));
  write_inputs(out, found, false);
  write_inputs(out, found, true);
  out << "    nodes:\n";
  for (const NeighbourNode& node : found.nodes) write_node(out, node, context.calls[node.call]);
  out << fmt::format("    outputs: [{}]\n", fmt::join(found.outputs, ", "));
  out << "    steps:\n"
         "      - {name: npu, variants: {default: npu}}\n"
         "      - {name: native, variants: {default: native}, standard: cosine}\n";
}

void print_network_context(std::ostream& out, const NetworkContext& context,
                           const ContextWish& wish, const ReportLayout& layout) {
  ReportLines lines(out, layout);
  lines.blank();
  lines.text(fmt::format("Context around {}:", centre_text(context, wish)), 0, 2);
  lines.text(counts_text(context.found), 2, 4);
  constexpr std::size_t kMostLines = 10;
  const std::vector<std::string>& left_out = context.found.left_out;
  for (std::size_t i = 0; i < std::min(left_out.size(), kMostLines); ++i) {
    lines.text("left out: " + shown(left_out[i]), 2, 4);
  }
  if (left_out.size() > kMostLines) {
    lines.text(fmt::format("and {} more", left_out.size() - kMostLines), 2);
  }
  if (context.late > 0) {
    lines.text(
        fmt::format("{} tasks came too late to be put in order, and are left out", context.late), 2,
        4);
  }
}

}  // namespace opbench
