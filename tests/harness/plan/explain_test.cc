// Tests the planned graph as text and as Graphviz DOT.
#include "harness/plan/explain.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <sstream>

#include "tests/harness/context_support.h"
#include "tests/support/program.h"
#include "tests/support/temp_dir.h"

namespace opbench {
namespace {

using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

// 5HD > 4D > Concat > 5HD > 4D > GatherV2 > 5HD.
PlannedContext shuffled_unit() {
  ContextBuilder builder("shuffle");
  builder.input("x1", {2, 58, 4, 4}, Format::NC1HWC0)
      .input("x2", {2, 58, 4, 4}, Format::NC1HWC0)
      .parameter("w", {16, 116, 1, 1})
      .node("cat_shuffle", {"x1", "x2"}, {"y"})
      .node("conv2d", {"y", "w"}, {"z"})
      .output("z");
  ContextStep step = builder.step();
  step.summary = "one gather";
  step.variants["cat_shuffle"] = {"full"};
  step.rules.allow_fp32_to_fp16 = false;
  step.rules.weight_format_init = true;
  ContextStep nchw = step, streams = builder.step();
  nchw.name = "nchw";
  nchw.summary.clear();
  nchw.rules.concat_output_nchw = true;
  streams.name = "streams";
  streams.not_applicable = "devices only";
  PlannedContext planned;
  planned.spec = builder.context();
  for (const ContextStep& each : {step, nchw, streams}) planned.steps.push_back(builder.plan(each));
  return planned;
}

std::string explained(const PlannedContext& planned) {
  std::ostringstream out;
  const WorkUnit unit(planned);
  explain(out, {&unit, 1});
  return out.str();
}

std::string dot_of(const PlannedContext& planned) {
  std::ostringstream out;
  const WorkUnit unit(planned);
  write_dot(out, {&unit, 1});
  return out.str();
}

std::vector<std::string> lines_of(const std::string& text) {
  std::istringstream in(text);
  std::vector<std::string> lines;
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

std::int64_t lines_with(const std::vector<std::string>& lines, const std::string& text) {
  return std::count_if(lines.begin(), lines.end(), [&](const std::string& line) {
    return line.find(text) != std::string::npos;
  });
}

std::size_t count_of(const std::string& text, const std::string& part) {
  std::size_t count = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) {
    ++count;
  }
  return count;
}

/// The part of the text about a step.
std::string section(const std::string& text, const std::string& step) {
  const std::size_t begin = text.find("\nstep " + step) + 1;
  return text.substr(begin, text.find("\nstep ", begin) - begin);
}

TEST(Explain, EveryTransDataHasItsCause) {
  const std::string text = explained(shuffled_unit());
  EXPECT_THAT(text, StartsWith("shuffle[fp32]\nstep step: one gather\n"));
  const std::vector<std::string> lines = lines_of(section(text, "step"));
  EXPECT_EQ(lines_with(lines, "  + TransData "), 5);
  EXPECT_EQ(lines_with(lines,
                       "fp32[2x58x4x4] NC1HWC0 > NCHW  <- "
                       "concat: C=58 is not a multiple of 16"),
            2);
  // Text without room next to the task follows below.
  EXPECT_THAT(
      section(text, "step"),
      testing::HasSubstr("fp32[2x116x4x4] NCHW > NC1HWC0\n      <- concat: the output follows "
                         "the first input (concat_output_nchw is off)\n"));
  EXPECT_EQ(lines_with(lines, "    ConcatD "), 1);
  EXPECT_EQ(lines_with(lines, "    GatherV2 "), 1);
  EXPECT_EQ(lines_with(lines, "    Conv2D "), 1);
}

TEST(Explain, CountsConversionsByCause) {
  const std::string text = explained(shuffled_unit());
  const std::vector<std::string> before = lines_of(section(text, "step"));
  EXPECT_EQ(lines_with(before, "  8 tasks, "), 1);
  EXPECT_EQ(lines_with(before, "      2 x trans_data: concat: C=58 is not a multiple of 16"), 1);
  EXPECT_EQ(lines_with(before, "      1 x trans_data: "), 3);
  const std::vector<std::string> after = lines_of(section(text, "nchw"));
  EXPECT_EQ(after.front(), "step nchw");
  EXPECT_EQ(lines_with(after, "  6 tasks, "), 1);
  EXPECT_EQ(lines_with(after, "  + TransData "), 3);
  EXPECT_EQ(lines_with(after, "concat_output_nchw is off"), 0);
}

TEST(Explain, WhatDoesNotRunSaysWhy) {
  const std::string text = section(explained(shuffled_unit()), "streams");
  EXPECT_EQ(text, "step streams\n  not run: devices only\n");
}

/// Checks braces and brackets outside strings, and that strings end on their line.
void expect_well_formed(const std::string& dot) {
  std::string open;
  bool is_quoted = false;
  for (std::size_t i = 0; i < dot.size(); ++i) {
    const char c = dot[i];
    if (is_quoted) {
      ASSERT_NE(c, '\n') << "a string does not end";
      if (c == '\\') ++i;
      is_quoted = c != '"';
    } else if (c == '"') {
      is_quoted = true;
    } else if (c == '{' || c == '[') {
      open += c == '{' ? '}' : ']';
    } else if (c == '}' || c == ']') {
      ASSERT_FALSE(open.empty());
      ASSERT_EQ(open.back(), c);
      open.pop_back();
    }
  }
  EXPECT_FALSE(is_quoted);
  EXPECT_EQ(open, "");
}

// Lets Graphviz parse the file if it is installed.
void expect_graphviz_reads(const std::string& dot) {
  if (!has_command("dot")) return;
  const TempDir directory;
  EXPECT_EQ(shell("dot -Tplain '" + directory.write("x.dot", dot) + "'").code, 0);
}

TEST(Dot, IsWellFormed) {
  const std::string dot = dot_of(shuffled_unit());
  EXPECT_THAT(dot, StartsWith("digraph opbench {\n"));
  expect_well_formed(dot);
  expect_graphviz_reads(dot);
}

TEST(Dot, HasAClusterForEveryStepThatRuns) {
  const std::string dot = dot_of(shuffled_unit());
  EXPECT_EQ(count_of(dot, "subgraph cluster_"), 2u);
  EXPECT_THAT(dot, HasSubstr("label=\"shuffle[fp32] step\""));
  EXPECT_THAT(dot, HasSubstr("label=\"shuffle[fp32] nchw\""));
  EXPECT_THAT(dot, Not(HasSubstr("streams")));
}

TEST(Dot, InsertedTasksStandOutWithTheirCause) {
  const std::string dot = dot_of(shuffled_unit());
  EXPECT_EQ(count_of(dot, "fillcolor=orange"), 5u + 3u);
  EXPECT_EQ(count_of(dot, "xlabel=\"concat: C=58 is not a multiple of 16\""), 2u + 2u);
}

// Every edge connects declared nodes, and every input of every task has an edge.
TEST(Dot, EdgesAreTheInputsOfTheTasks) {
  const PlannedContext planned = shuffled_unit();
  const std::string dot = dot_of(planned);
  std::size_t inputs = 0;
  for (const PlannedStep& step : planned.steps) {
    for (const Node& node : step.graph.nodes) inputs += node.inputs.size();
  }
  EXPECT_EQ(count_of(dot, " -> "), inputs);
  for (const std::string& line : lines_of(dot)) {
    const std::size_t arrow = line.find(" -> ");
    if (arrow == std::string::npos) continue;
    const std::string from = line.substr(4, arrow - 4);
    const std::string to = line.substr(arrow + 4, line.find(" [") - arrow - 4);
    EXPECT_THAT(dot, HasSubstr("\n    " + from + " [")) << line;
    EXPECT_THAT(dot, HasSubstr("\n    " + to + " [")) << line;
  }
}

TEST(Dot, NamesAreEscaped) {
  PlannedContext planned = shuffled_unit();
  planned.steps[0].graph.nodes[2].name = "a\"b\\c";
  planned.steps[1].spec.name = "say \"hi\"\\";
  const std::string dot = dot_of(planned);
  EXPECT_THAT(dot, HasSubstr("label=\"a\\\"b\\\\c (ConcatD)\""));
  EXPECT_THAT(dot, HasSubstr("label=\"shuffle[fp32] say \\\"hi\\\"\\\\\""));
  expect_well_formed(dot);
  expect_graphviz_reads(dot);
}

}  // namespace
}  // namespace opbench
