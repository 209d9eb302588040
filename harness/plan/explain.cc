#include "harness/plan/explain.h"

#include <fmt/format.h>

#include <map>
#include <ostream>

#include "harness/plan/plan_tasks.h"
#include "tensor/utf8.h"
#include "text/fitted.h"

namespace opbench {
namespace {

constexpr std::size_t kWidth = 80;  // columns of a terminal

// Appends a cell to a line, or begins a new line if the line is full.
void put(std::ostream& out, std::string& line, const std::string& cell) {
  constexpr std::size_t kIndent = 6;
  if (line.size() + 2 + utf8_length(cell) <= kWidth) {
    line += "  " + cell;
    return;
  }
  out << line << '\n';
  line = std::string(kIndent, ' ') + wrapped(cell, kWidth, kIndent + 2, kIndent);
  const std::size_t last = line.rfind('\n');
  if (last == line.npos) return;
  out << line.substr(0, last + 1);
  line.erase(0, last + 1);
}

void explain_node(std::ostream& out, const Node& node, const Kernel& kernel) {
  const std::string what = node.problem.op->context.conversion == Conversion::format
                               ? fmt::format("{} > {}", to_string(node.problem.inputs[0]),
                                             name(node.problem.outputs[0].format))
                               : fmt::format("{} -> {}", tensors_text(node.problem.inputs),
                                             tensors_text(node.problem.outputs));
  std::string text =
      fmt::format("  {} {:<17}", node.cause.empty() ? ' ' : '+', task_type(node, kernel));
  put(out, text, node.name);
  put(out, text, what);
  if (!node.cause.empty()) put(out, text, "<- " + node.cause);
  out << text << '\n';
}

void explain_step(std::ostream& out, const PlannedStep& step) {
  std::string title = fmt::format("step {}", step.spec.name);
  if (!step.spec.summary.empty()) title += ": " + step.spec.summary;
  say(out, title, 0, 2);
  if (!step.refusal().empty()) {
    say(out, "not run: " + step.refusal(), 2, 2);
    return;
  }
  std::map<std::string, int> causes;
  for (std::size_t i = 0; i < step.graph.nodes.size(); ++i) {
    const Node& node = step.graph.nodes[i];
    explain_node(out, node, *step.selection.kernels[i]);
    if (!node.cause.empty()) ++causes[fmt::format("{}: {}", node.problem.op->name, node.cause)];
  }
  const std::string total =
      fmt::format("{} tasks, {} ({} without reuse of buffers), planned in {:.2f} ms",
                  step.graph.nodes.size(), byte_size_text(double(step.memory.bytes)),
                  byte_size_text(double(step.memory.unshared_bytes)), step.planning_ms);
  say(out, total, 2, 2);
  for (const auto& [cause, count] : causes) say(out, fmt::format("{:>5} x {}", count, cause), 2, 8);
}

// Quotes a string for DOT.
std::string dot_quoted(std::string_view text) {
  std::string result = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') result += '\\';
    result += c;
  }
  result += '"';
  return result;
}

void write_dot_edges(std::ostream& out, const PlannedStep& step, const std::string& prefix) {
  std::map<std::size_t, std::size_t> writer;
  for (std::size_t n = 0; n < step.graph.nodes.size(); ++n) {
    for (const std::size_t output : step.graph.nodes[n].outputs) writer[output] = n;
  }
  for (std::size_t n = 0; n < step.graph.nodes.size(); ++n) {
    const Node& node = step.graph.nodes[n];
    for (std::size_t i = 0; i < node.inputs.size(); ++i) {
      const auto from = writer.find(node.inputs[i]);
      const std::string source = from == writer.end() ? fmt::format("{}t{}", prefix, node.inputs[i])
                                                      : fmt::format("{}n{}", prefix, from->second);
      out << fmt::format("    {} -> {}n{} [label={}];\n", source, prefix, n,
                         dot_quoted(to_string(node.problem.inputs[i])));
    }
  }
}

void write_dot_step(std::ostream& out, const PlannedStep& step, const std::string& title,
                    std::size_t number) {
  const std::string prefix = fmt::format("s{}_", number);
  out << fmt::format("  subgraph cluster_{} {{\n    label={};\n", number, dot_quoted(title));
  for (std::size_t t = 0; t < step.graph.tensors.size(); ++t) {
    const GraphTensor& tensor = step.graph.tensors[t];
    if (tensor.is_computed()) continue;
    out << fmt::format("    {}t{} [shape=ellipse, label={}];\n", prefix, t,
                       dot_quoted(tensor.name));
  }
  for (std::size_t n = 0; n < step.graph.nodes.size(); ++n) {
    const Node& node = step.graph.nodes[n];
    const std::string type = task_type(node, *step.selection.kernels[n]);
    const std::string label = fmt::format("{} ({})", node.name, type);
    out << fmt::format("    {}n{} [label={}{}];\n", prefix, n, dot_quoted(label),
                       node.cause.empty()
                           ? ""
                           : ", style=filled, fillcolor=orange, tooltip=" + dot_quoted(node.cause) +
                                 ", xlabel=" + dot_quoted(node.cause));
  }
  write_dot_edges(out, step, prefix);
  out << "  }\n";
}

}  // namespace

void explain(std::ostream& out, std::span<const WorkUnit> units) {
  for (const WorkUnit& unit : units) {
    if (!unit.is_context()) continue;
    say(out, unit.id, 0, 2);
    for (const PlannedStep& step : unit.context->steps) explain_step(out, step);
  }
}

void write_dot(std::ostream& out, std::span<const WorkUnit> units) {
  out << "digraph opbench {\n  node [shape=box, fontname=\"sans-serif\"];\n";
  std::size_t number = 0;
  for (const WorkUnit& unit : units) {
    if (!unit.is_context()) continue;
    for (const PlannedStep& step : unit.context->steps) {
      if (!step.refusal().empty()) continue;
      write_dot_step(out, step, fmt::format("{} {}", unit.id, step.spec.name), number++);
    }
  }
  out << "}\n";
}

}  // namespace opbench
