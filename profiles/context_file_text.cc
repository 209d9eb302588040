#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <ostream>

#include "profiles/call_graph.h"
#include "profiles/case_file_text.h"
#include "profiles/network_context.h"
#include "tensor/printable.h"
#include "text/excerpt.h"

namespace opbench {
namespace {

constexpr std::size_t kLongest = 160;

std::string shown(std::string_view text) { return printable(excerpt(text, kLongest)); }

// "MatMulV2 (kernel_details.csv:41) aclnnAddmm"
std::string place_of(const NetworkCall& call) {
  return fmt::format("{}{}{}", shown(described(call)), call.name.empty() ? "" : " ",
                     shown(call.name));
}

std::string counts_text(const Neighbourhood& found) {
  return fmt::format(
      "{} nodes; {} edges inferred by shape and dtype, {} of them ambiguous; seen through: {} "
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
  out << "# What stands around an operator of a network, made by `opbench ingest --context`:\n";
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
