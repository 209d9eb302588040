// .github/workflows/opbench.yml, the example that users copy, and action.yml, which it uses. No
// text of a pull request may be part of a script. The token may only write the comment.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <yaml-cpp/yaml.h>

#include <filesystem>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "tests/support/program.h"
#include "tests/support/source_tree.h"
#include "tests/support/temp_dir.h"

namespace opbench {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::Not;

YAML::Node workflow() { return YAML::LoadFile(source_file(".github/workflows/opbench.yml")); }
YAML::Node action() { return YAML::LoadFile(source_file("action.yml")); }

/// The script of a step, for a shell or github-script.
std::string step_script(const YAML::Node& step) {
  if (step["run"]) return step["run"].as<std::string>();
  return step["with"] && step["with"]["script"] ? step["with"]["script"].as<std::string>() : "";
}

/// Steps of the workflow and of the action.
std::vector<YAML::Node> all_steps() {
  std::vector<YAML::Node> steps;
  for (const auto& job : workflow()["jobs"]) {
    for (const YAML::Node& step : job.second["steps"]) steps.push_back(step);
  }
  for (const YAML::Node& step : action()["runs"]["steps"]) steps.push_back(step);
  return steps;
}

/// A repository whose programs record their arguments, write the summary and end with a given code.
class CheckAction : public testing::Test, protected TempDir {
 protected:
  CheckAction() {
    for (const char* program : {"bin/opbench", "old/opbench", "tools/check-against-base"}) {
      write(program, R"(#!/bin/sh
echo "$0 $*" >>"$CALLS"
mkdir -p out && echo '# Verdicts' >out/check.md
exit "$CODE"
)");
      fs::permissions(path(program), fs::perms::owner_all);
    }
  }

  /// Inputs that are not given are empty.
  Outcome run(int code, const std::map<std::string, std::string>& inputs) const {
    const YAML::Node step = action()["runs"]["steps"][0];
    ProcessOptions options{.environment = {{"CODE", std::to_string(code)},
                                           {"CALLS", path("calls")},
                                           {"GITHUB_ACTION_PATH", directory()},
                                           {"GITHUB_STEP_SUMMARY", path("summary")},
                                           {"GITHUB_OUTPUT", path("outputs")}},
                           .directory = directory()};
    for (const auto& variable : step["env"]) options.environment[variable.first.as<std::string>()];
    for (const auto& [name, value] : inputs) options.environment[name] = value;
    options.environment["OUT"] = "out";
    write("step.sh", step_script(step));
    return shell("PATH='" + path("bin") + "':$PATH sh -e step.sh", options);
  }
};

}  // namespace

TEST(Workflow, NoScriptIsMadeOfTextFromOutside) {
  int scripts = 0;
  for (const YAML::Node& step : all_steps()) {
    const std::string script = step_script(step);
    scripts += !script.empty();
    EXPECT_THAT(script, Not(HasSubstr("${{"))) << "use the environment or a file";
  }
  EXPECT_GE(scripts, 7);
}

TEST(Workflow, OnlyTheCommentMayWrite) {
  const YAML::Node file = workflow();
  EXPECT_EQ(YAML::Dump(file["permissions"]), "contents: read");
  EXPECT_EQ(YAML::Dump(file["jobs"]["check"]["permissions"]),
            "contents: read\npull-requests: write");
  EXPECT_FALSE(file["jobs"]["test"]["permissions"]);
  for (const auto& event : file["on"]) {
    EXPECT_NE(event.first.as<std::string>(), "pull_request_target")
        << "it would run a fork's code with a token that writes";
  }
}

// The repository chooses the accepted exit codes. By default 3 fails and 5 does not.
TEST(Workflow, UsesTheActionWithTheCodesOfTheRepository) {
  const YAML::Node inputs = action()["inputs"];
  EXPECT_EQ(inputs["accept"]["default"].as<std::string>(), "0 5");
  int uses = 0;
  for (const YAML::Node& step : workflow()["jobs"]["check"]["steps"]) {
    if (!step["uses"] || step["uses"].as<std::string>() != "./") continue;
    ++uses;
    EXPECT_EQ(step["with"]["accept"].as<std::string>(), "${{ vars.OPBENCH_ACCEPTED || '0 5' }}");
    for (const auto& input : step["with"]) {
      EXPECT_TRUE(inputs[input.first.as<std::string>()]) << input.first;
    }
  }
  EXPECT_EQ(uses, 1);
}

TEST_F(CheckAction, EndsWithCodesThatAreNotAccepted) {
  for (const auto& [accept, status, code] :
       {std::tuple("0 5", 5, 0), {"0 5", 3, 3}, {"0 3 5", 3, 0}, {"0 5", 1, 1}, {"0 5", 0, 0}}) {
    const Outcome outcome = run(status, {{"ACCEPT", accept}, {"AGAINST", "origin/main"}});
    EXPECT_EQ(outcome.code, code) << accept << ' ' << status << outcome.err;
    EXPECT_THAT(read("outputs"), testing::EndsWith(fmt::format("exit-code={}\n", status)));
  }
}

TEST_F(CheckAction, ComparesWithARevision) {
  run(0, {{"AGAINST", "origin/main"}, {"CASES", "a.yaml b.yaml"}, {"ARGUMENTS", "--filter [*]"}});
  EXPECT_EQ(read("calls"), path("tools/check-against-base") +
                               " origin/main --filter [*] --cases a.yaml b.yaml --out out\n");
  EXPECT_EQ(read("summary"), "# Verdicts\n");
}

TEST_F(CheckAction, BuildsAnotherRepository) {
  run(0, {{"AGAINST", "v1"}, {"BUILD", "make -j2"}, {"PROGRAM", "build/mine"}});
  EXPECT_EQ(read("calls"), path("tools/check-against-base") +
                               " --build make -j2 --program build/mine v1 --out out\n");
}

TEST_F(CheckAction, ComparesWithAProgram) {
  run(0, {{"AGAINST", "old/opbench"}, {"ARGUMENTS", "--op relu"}});
  EXPECT_EQ(read("calls"),
            path("bin/opbench") + " check --against old/opbench --op relu --out out\n");
}

TEST(Workflow, TheCommentIsBroughtUpToDateAndMayFailInAFork) {
  std::string script;
  for (const YAML::Node& step : workflow()["jobs"]["check"]["steps"]) {
    if (step["name"] && step["name"].as<std::string>() == "Comment") script = step_script(step);
  }
  for (const char* part : {"'build/check/check.md'", "<!-- opbench check -->", "updateComment",
                           "createComment", "error.status !== 403"}) {
    EXPECT_THAT(script, HasSubstr(part));
  }
}

}  // namespace opbench
