#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "compare/witness_origin.h"

namespace opbench {

/// A folder that appears with all its files at once: until `commit` they lie in a hidden one beside
/// it, which is removed if that is never called.
///
/// Errors: throws Error if there is a folder of that name with anything in it, or something else;
/// RunError if it cannot be made.
class NewFolder {
 public:
  explicit NewFolder(const std::string& path);
  NewFolder(const NewFolder&) = delete;
  NewFolder& operator=(const NewFolder&) = delete;
  ~NewFolder();

  /// Where a file stands until then.
  std::filesystem::path file(const std::string& name) const { return hidden_ / name; }
  /// A message of one who writes there, with the name that the folder was to have.
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
