#pragma once

#include <map>
#include <string>
#include <utility>

#include "harness/plan/case_file.h"

namespace opbench {

/// The case files of one run, each read where it is first asked for and then kept.
class CaseFiles {
 public:
  /// `overrides` replace symbols of every file.
  explicit CaseFiles(Symbols overrides) : overrides_(std::move(overrides)) {}

  /// Stays where it is. Errors: throws Error like `load_case_file`.
  const CaseFile& file(const std::string& path);

 private:
  Symbols overrides_;
  std::map<std::string, CaseFile> files_;
};

}  // namespace opbench
