#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "compare/witness_origin.h"

namespace opbench {

/// A folder that appears with all its files at once. Until `commit` the files are in a hidden
/// folder next to it, which is removed if `commit` is never called.
///
/// Errors: throws Error if the name exists and is not an empty folder; RunError if the folder
/// cannot be made.
class NewFolder {
 public:
  explicit NewFolder(const std::string& path);
  NewFolder(const NewFolder&) = delete;
  NewFolder& operator=(const NewFolder&) = delete;
  ~NewFolder();

  /// The path of a file before `commit`.
  std::filesystem::path file(const std::string& name) const { return hidden_ / name; }
  /// A writer's message with the final name of the folder.
  std::string with_real_name(std::string message) const;
  void commit();

 private:
  std::filesystem::path target_, hidden_;
};

/// Writes call.h5, call.py, call_test.cc and README.md. Errors: throws RunError if they cannot be
/// written, or if the judge, reading call.h5, does not find it GUILTY for the same reason.
void write_witness(const NewFolder& folder, const WitnessOrigin& origin, const Witness& witness,
                   const JudgeOptions& options);

}  // namespace opbench
