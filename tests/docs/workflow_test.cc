// .github/workflows/opbench.yml, the example that users copy: what a pull request says is never
// part of a script, and its token may do what the comment needs and no more.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <yaml-cpp/yaml.h>

#include <tuple>

#include "tests/support/program.h"
#include "tests/support/source_tree.h"

namespace opbench {
namespace {

using testing::HasSubstr;
using testing::Not;

YAML::Node workflow() { return YAML::LoadFile(source_file(".github/workflows/opbench.yml")); }

/// What runs in a step: a shell's or github-script's.
std::string step_script(const YAML::Node& step) {
  if (step["run"]) return step["run"].as<std::string>();
  return step["with"] && step["with"]["script"] ? step["with"]["script"].as<std::string>() : "";
}

}  // namespace

TEST(Workflow, NoScriptIsMadeOfTextFromOutside) {
  int scripts = 0;
  for (const auto& job : workflow()["jobs"]) {
    for (const YAML::Node& step : job.second["steps"]) {
      const std::string script = step_script(step);
      scripts += !script.empty();
      EXPECT_THAT(script, Not(HasSubstr("${{"))) << "use the environment or a file";
    }
  }
  EXPECT_GE(scripts, 6);
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

// What passes is a choice of the repository; without one, 3 fails and 5 does not.
TEST(Workflow, WhichExitCodesPassIsAChoice) {
  for (const YAML::Node& step : workflow()["jobs"]["check"]["steps"]) {
    if (!step["name"] || step["name"].as<std::string>() != "Slower or wrong?") continue;
    EXPECT_EQ(step["env"]["ACCEPTED"].as<std::string>(), "${{ vars.OPBENCH_ACCEPTED || '0 5' }}");
    const std::string script = step_script(step);
    const std::string end = script.substr(script.find("case \" $ACCEPTED"));
    for (const auto& [accepted, status, code] :
         {std::tuple("0 5", 5, 0), {"0 5", 3, 3}, {"0 3 5", 3, 0}, {"0 5", 1, 1}, {"0 5", 0, 0}}) {
      const std::string before = fmt::format("ACCEPTED='{}'; status={}; ", accepted, status);
      EXPECT_EQ(shell(before + end).code, code) << before;
    }
  }
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
