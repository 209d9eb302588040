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
  Outcome check_here(const std::string& args) const {
    return check(args, "", {.environment = {}, .directory = directory()});
  }

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
inline const std::string kSelf = program();

}  // namespace opbench
