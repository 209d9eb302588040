#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "tests/support/program.h"
#include "tests/support/source_tree.h"
#include "tests/support/temp_dir.h"

namespace opbench {

/// Runs `opbench check` of the built program, in a folder of its own.
class CheckCli : public testing::Test, protected TempDir {
 protected:
  /// Runs `opbench check ARGS`, `environment` before it.
  Outcome check(const std::string& args, const std::string& environment = "",
                const ProcessOptions& options = {}) const {
    return shell("env -u GITHUB_ACTIONS " + environment + " " + program() + " check -q " + args,
                 options);
  }
  /// The same of the program with `faults`, held against the built one.
  Outcome check_faulty(const std::string& args, const std::string& faults) const {
    return shell("env -u GITHUB_ACTIONS " + faults + " " + faulty_program() +
                 " check -q --against " + program() + " " + args);
  }
  Outcome check_here(const std::string& args) const {
    return check(args, "", {.environment = {}, .directory = directory()});
  }

  /// This program as the other build.
  std::string other_build() const { return script("other", "exec " + program() + " \"$@\"\n"); }

  /// A shell script as the other build.
  std::string script(const std::string& name, const std::string& body) const {
    const std::string path = write(name, "#!/bin/sh\n" + body);
    std::filesystem::permissions(path, std::filesystem::perms::owner_all);
    return path;
  }
};

inline const std::string kSmall =
    " --case 'softplus[4096,fp32]' --variant native,softplus_v2 --threads 1 --sample 2";
// What a script prints first: says hello as this version does.
inline const std::string kHello =
    R"(echo '{"opbench_worker":2,"oldest":2,"version":"0","revision":"r","compiler":"c",)"
    R"("flags":"f","build_type":"Release"}'
)";

/// What a fake build does with each kind of request, in shell; `$id` is the case of an open one.
struct FakeAnswers {
  // Slower than this build, one under sanitizers too, and less than the answer takes.
  std::string sample = R"(sleep 0.001; echo '{"us": 300}')";
  std::string end = ":";  // of its input
  std::string open = R"(opened "$id")";
  std::string list = R"(echo '{"error": "cannot say"}')";
};

/// The script of a build that opens every case with one variant, unverified.
inline std::string fake_build(const std::string& variant, const FakeAnswers& answers) {
  return kHello + R"(opened() { echo '{"case":"'"$1"'","variants":[{"variant":")" + variant +
         R"(","status":"unverified","reason":""}],"first_call":'"${first:-false}"'}'; }
while read -r line; do case $line in
  *'"list"'*) )" +
         answers.list + R"(;;
  *'"open"'*) id=${line#*'"case":"'}; id=${id%%'"'*}; )" +
         answers.open + R"(;;
  *'"code"'*) echo '{"error": "cannot say"}';;
  *'"close"'*) echo '{"closed":true}';;
  *) )" + answers.sample +
         R"(;;
esac; done
)" + answers.end +
         "\n";
}
inline const std::string kSelf = program();

}  // namespace opbench
