#include "tests/support/scripted_checkout.h"

namespace opbench {

namespace fs = std::filesystem;

namespace {

// Revisions with a file named `broken` cannot be built.
constexpr const char* kBuild = R"sh(#!/bin/sh
set -eu
cd "$(dirname "$0")"
[ "$1" = build ] && [ ! -e broken ]
mkdir -p build/release
${CC:-cc} -o build/release/opbench opbench.c
echo "$PWD" >>"${OPBENCH_TEST_BUILDS:-/dev/null}"
)sh";

}  // namespace

ScriptedCheckout::ScriptedCheckout(const std::string& script, const std::string& launcher) {
  fs::create_directories(root() + "/tools");
  fs::copy_file(source_file("tools/" + script), root() + "/tools/" + script);
  write("checkout/build.sh", kBuild);
  fs::permissions(root() + "/build.sh", fs::perms::owner_all);
  write("checkout/.gitignore", "/build/\n");
  EXPECT_EQ(sh("git init -q -b main").code, 0);
  commit("opbench.c", launcher);
}

Outcome ScriptedCheckout::sh(const std::string& command, const std::string& folder) const {
  const std::map<std::string, std::string> environment = {{"GIT_CONFIG_GLOBAL", "/dev/null"},
                                                          {"GIT_CONFIG_NOSYSTEM", "1"},
                                                          {"GIT_AUTHOR_NAME", "a"},
                                                          {"GIT_AUTHOR_EMAIL", "a@example.org"},
                                                          {"GIT_COMMITTER_NAME", "a"},
                                                          {"GIT_COMMITTER_EMAIL", "a@example.org"},
                                                          {"OPBENCH_TEST_BUILDS", path("built")}};
  return shell("unset GITHUB_ACTIONS; " + command,
               {.environment = environment, .directory = root() + "/" + folder});
}

void ScriptedCheckout::commit(const std::string& file, const std::string& text) const {
  write("checkout/" + file, text);
  const Outcome ran = sh("git add -A && git commit -q -m 'changes " + file + "'");
  EXPECT_EQ(ran.code, 0) << ran.err;
}

std::string ScriptedCheckout::revision(const std::string& name) const {
  const std::string out = sh("git rev-parse " + name).out;
  return out.substr(0, out.find('\n'));
}

}  // namespace opbench
