#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <map>
#include <string>

#include "tests/support/program.h"
#include "tests/support/source_tree.h"
#include "tests/support/temp_dir.h"

namespace opbench {

/// A git repository with a script of tools/ and a build.sh that compiles its opbench, a launcher in
/// a few lines: what the script does with git, two folders and two builds is real, in milliseconds.
class ScriptedCheckout : public testing::Test, protected TempDir {
 protected:
  /// `launcher`: C, compiled to build/release/opbench in every revision.
  ScriptedCheckout(const std::string& script, const std::string& launcher);

  Outcome sh(const std::string& command, const std::string& folder = "") const;
  /// Writes a file and commits all that is there.
  void commit(const std::string& file, const std::string& text) const;
  /// What is printed after `git rev-parse`, without the end of the line.
  std::string revision(const std::string& name) const;

  /// Where the repository is; beside it, nothing of git.
  std::string root() const { return path("checkout"); }
};

}  // namespace opbench
