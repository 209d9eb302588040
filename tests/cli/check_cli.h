#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "tests/support/program.h"
#include "tests/support/source_tree.h"
#include "tests/support/temp_dir.h"

namespace opbench {

/// Runs `opbench check` of the built program, in its own folder.
class CheckCli : public testing::Test, protected TempDir {
 protected:
  /// Runs `opbench check ARGS` with the variables of `environment`.
  Outcome check(const std::string& args, const std::string& environment = "",
                const ProcessOptions& options = {}) const {
    return shell(
        "env -u GITHUB_ACTIONS COLUMNS=1000 " + environment + " " + program() + " check -q " + args,
        options);
  }
  /// Runs the program with `faults` and compares it with the built program.
  Outcome check_faulty(const std::string& args, const std::string& faults) const {
    return shell("env -u GITHUB_ACTIONS COLUMNS=1000 " + faults + " " + faulty_program() +
                 " check -q --against " + program() + " " + args);
  }
  Outcome check_here(const std::string& args) const {
    return check(args, "", {.environment = {}, .directory = directory()});
  }

  /// The built program as the other build.
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
// The greeting of this version, which a script prints first.
inline const std::string kHello =
    R"(echo '{"opbench_worker":2,"oldest":2,"version":"0","revision":"r","compiler":"c",)"
    R"("flags":"f","build_type":"Release"}'
)";

/// The shell commands with which a fake build answers each kind of request. `$id` is the case of an
/// open request.
struct FakeAnswers {
  // Slower than this build, also with sanitizers. Shorter than the time of the answer.
  std::string sample = R"(sleep 0.001; echo '{"us": 300}')";
  std::string end = ":";  // at the end of the input
  std::string open = R"(opened "$id")";
  std::string list = R"(echo '{"error": "cannot say"}')";
};

/// The script of a build that opens every case with one unverified variant.
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
