// .github/workflows/opbench.yml, the example that users copy: what a pull request says is never
// part of a script, and its token may do what the comment needs and no more.
#include <gmock/gmock.h>
#include <yaml-cpp/yaml.h>

#include "tests/support/source_tree.h"

namespace opbench {
namespace {

using testing::HasSubstr;
using testing::Not;

YAML::Node workflow() { return YAML::LoadFile(source_file(".github/workflows/opbench.yml")); }

/// What runs in a step: a shell's or github-script's.
std::string script_of(const YAML::Node& step) {
  if (step["run"]) return step["run"].as<std::string>();
  return step["with"] && step["with"]["script"] ? step["with"]["script"].as<std::string>() : "";
}

}  // namespace

TEST(Workflow, NoScriptIsMadeOfTextFromOutside) {
  int scripts = 0;
  for (const auto& job : workflow()["jobs"]) {
    for (const YAML::Node& step : job.second["steps"]) {
      const std::string script = script_of(step);
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

TEST(Workflow, TheCommentIsBroughtUpToDateAndMayFailInAFork) {
  std::string script;
  for (const YAML::Node& step : workflow()["jobs"]["check"]["steps"]) {
    if (step["name"] && step["name"].as<std::string>() == "Comment") script = script_of(step);
  }
  for (const char* part : {"'build/check/check.md'", "<!-- opbench check -->", "updateComment",
                           "createComment", "error.status !== 403"}) {
    EXPECT_THAT(script, HasSubstr(part));
  }
}

}  // namespace opbench
