#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <map>
#include <string>

#include "tests/support/program.h"
#include "tests/support/source_tree.h"
#include "tests/support/temp_dir.h"

namespace opbench {

/// A git repository with a script of tools/ and a build.sh that compiles a short launcher as its
/// opbench. Git, both folders and both builds are real, but take milliseconds.
class ScriptedCheckout : public testing::Test, protected TempDir {
 protected:
  /// `launcher`: C, compiled to build/release/opbench in every revision.
  ScriptedCheckout(const std::string& script, const std::string& launcher);

  Outcome sh(const std::string& command, const std::string& folder = "") const;
  /// Writes a file and commits all changes.
  void commit(const std::string& file, const std::string& text) const;
  /// Returns the output of `git rev-parse`, without the line end.
  std::string revision(const std::string& name) const;

  /// Folder of the repository. Its parent folder is not a repository.
  std::string root() const { return path("checkout"); }
};

}  // namespace opbench
