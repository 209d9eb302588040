// Contexts through the built program, with the case files that belong to it.
#include "tests/cli/context_cli.h"

#include <gmock/gmock.h>

#include <regex>

#include "tests/cli/error_line.h"
#include "tests/support/source_tree.h"

namespace opbench {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::StartsWith;

std::vector<std::string> matches(const std::string& text, const std::string& pattern) {
  std::vector<std::string> found;
  const std::regex regex(pattern, std::regex::multiline);
  for (std::sregex_iterator i(text.begin(), text.end(), regex), end; i != end; ++i) {
    found.push_back((*i)[1]);
  }
  return found;
}

TEST_F(ContextCli, PrintsTheStepsOfBothUnits) {
  const Outcome outcome = unit({});
  ASSERT_EQ(outcome.code, 0) << outcome.out << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr("stride1[N=1,fp32]  (1x58x28x28, forward+backward, "));
  EXPECT_THAT(outcome.out, HasSubstr("stride2[N=1,fp32]  (1x24x56x56, forward+backward, "));
  std::vector<std::string> twice = kUnitSteps;
  twice.insert(twice.end(), kUnitSteps.begin(), kUnitSteps.end());
  EXPECT_EQ(matches(outcome.out, "^ +[1-6]  ([a-z_0-9]+) .* passed$"), twice);
  EXPECT_THAT(outcome.out, HasSubstr("TransData"));
  EXPECT_THAT(outcome.out, HasSubstr("2 cases, 12 results: 12 passed."));
}

TEST_F(ContextCli, VariantSelectsSteps) {
  const Outcome outcome = unit({"--filter", "^stride1$", "--variant", "native,fused"});
  ASSERT_EQ(outcome.code, 0) << outcome.out << outcome.err;
  EXPECT_THAT(matches(outcome.out, "^ +[0-9]  ([a-z_]+) .* passed$"),
              ElementsAre("native", "fused"));
  EXPECT_THAT(outcome.out, HasSubstr("1 case, 2 results: 2 passed."));
}

TEST_F(ContextCli, UnknownStepIsAnErrorWithASuggestion) {
  expect_refusal(unit({"--variant", "relu_grad_kast"}), "did you mean 'relu_grad_cast'?");
}

TEST_F(ContextCli, DryRunCountsTheTasks) {
  const Outcome outcome = unit({"--dry-run", "--json", path("x.json")});
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_THAT(outcome.out, StartsWith("stride1[N=1,fp32]  "));
  EXPECT_THAT(outcome.out, HasSubstr("\nstride2[N=1,fp32]  "));
  EXPECT_EQ(matches(outcome.out, "^  ([a-z_]+)  [0-9]+ tasks$").size(), 12u);
  EXPECT_THAT(files(), testing::IsEmpty()) << "nothing ran";
}

TEST_F(ContextCli, ExplainTellsEveryConversion) {
  const Outcome outcome = unit({"--filter", "^stride1$", "--explain"});
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_EQ(matches(outcome.out, "^step ([a-z_]+)(?::.*)?$"), kUnitSteps);
  const std::string whole = std::regex_replace(outcome.out, std::regex("\n {6,}"), "  ");
  EXPECT_THAT(whole, HasSubstr("NC1HWC0 > NCHW  <- concat: C=58 is not a multiple of 16"));
  EXPECT_EQ(matches(whole, "^  \\+ (Cast|TransData) +[^<]*$").size(), 0u)
      << "an inserted task without a cause";
  EXPECT_EQ(matches(outcome.out, "^  ([0-9]+) tasks, ").size(), kUnitSteps.size());
}

TEST_F(ContextCli, DotIsWrittenBesideAnything) {
  for (const std::string how : {"--explain", "--dry-run", "--quiet"}) {
    std::vector<std::string> args = {"--filter", "^stride1$", "--variant",
                                     "half",     "--dot",     path("unit.dot")};
    if (how != "--quiet") args.push_back(how);
    const Outcome outcome = unit(args);
    ASSERT_EQ(outcome.code, 0) << how << outcome.err;
    const std::string dot = read("unit.dot");
    EXPECT_THAT(dot, StartsWith("digraph opbench {\n"));
    EXPECT_THAT(dot, HasSubstr("label=\"stride1[N=1,fp32] half\""));
    EXPECT_THAT(dot, HasSubstr("concat: C=58 is not a multiple of 16"));
    EXPECT_THAT(dot, testing::EndsWith("  }\n}\n"));
    fs::remove(path("unit.dot"));
  }
}

TEST_F(ContextCli, GraphsNeedAContext) {
  for (const std::string flag : {"--explain", "--dot"}) {
    std::vector<std::string> args = {"--case", "relu[8,fp32]", flag};
    if (flag == "--dot") args.push_back(path("x.dot"));
    expect_refusal(run_program(args), flag + " needs a context");
  }
  EXPECT_THAT(files(), testing::IsEmpty());
}

TEST_F(ContextCli, BadFilesAreOneLineWithTheirPlace) {
  const std::pair<const char*, const char*> texts[] = {
      {"contexts:\n  - name: a\n    inputs: {x: [2]}\n    nodes: [{op: relu, in: q, out: y}]\n"
       "    outputs: [y]\n",
       "bad.yaml:4: unknown tensor 'q'"},
      {"contexts:\n  - name: a\n    inputs: {x: [2]}\n    nodes: [{op: relo, in: x, out: y}]\n"
       "    outputs: [y]\n",
       "bad.yaml:4: "},
      {"contexts:\n  - name: a\n    inputs: {x: [2]}\n    nodes: [{op: relu, in: x, out: y}]\n"
       "    outputs: [y]\n    steps:\n      - {name: s, rules: {concat_nchw: true}}\n",
       "bad.yaml:7: "},
      {"contexts:\n  - name: a\n    inputs: {x: [2\n", "bad.yaml:"},
  };
  for (const auto& [text, message] : texts) {
    expect_refusal(run_program({"--cases", write("bad.yaml", text)}), message);
  }
}

// A step of the tuning must not add a conversion.
TEST_F(ContextCli, NoStepOfTheForwardPassHasMoreTransDataThanTheOneBefore) {
  const Outcome outcome = run_program(
      {"--cases", source_file("cases/shufflenet_v2_forward.yaml"), "--set", "N=1", "--explain"});
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  std::vector<std::string> steps;
  std::vector<int> conversions;
  std::istringstream in(outcome.out);
  for (std::string line; std::getline(in, line);) {
    if (line.starts_with("step ")) {
      steps.push_back(line.substr(5, line.find(':') - 5));
      conversions.push_back(0);
    }
    if (line.starts_with("  + TransData ")) ++conversions.back();
  }
  ASSERT_THAT(steps, ElementsAre("index_select", "two_index_selects", "concat_nchw",
                                 "weight_format", "dwconv_5hd"));
  for (std::size_t i = 1; i < steps.size(); ++i) {
    EXPECT_LE(conversions[i], conversions[i - 1]) << steps[i];
  }
  EXPECT_GT(conversions.back(), 0) << "Concat of 58 channels cannot stay in blocks";
  EXPECT_LT(conversions[2], conversions[1]);
  EXPECT_LT(conversions[3], conversions[2]);
  EXPECT_LT(conversions[4], conversions[3]);
}

}  // namespace
}  // namespace opbench
