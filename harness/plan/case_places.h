#pragma once

#include <string>
#include <vector>

#include "harness/plan/case_files.h"

namespace opbench {

/// Folder of the case files that were installed with the running program: ../share/opbench/cases
/// from bin/opbench. It may be missing.
std::string installed_cases();

/// The case file that `path` names: the file at the path as given, else the file below the
/// installed cases ("resnet.yaml" and "cases/resnet.yaml" are equivalent). Returns `path` itself if
/// neither exists.
std::string find_case_file(const std::string& path);

/// Files that a word of --cases names, sorted. The word is a file, a folder (its *.yaml and *.yml
/// files) or a pattern with *, ? and [...]. It is searched as given and then among the installed
/// cases.
/// Errors: throws Error if a pattern or a folder has no case file.
std::vector<std::string> case_files_of(const std::string& word);

/// Files that the words of --cases name, in order. Files of a folder or pattern are left out if
/// they have neither cases nor contexts. Pointers go into `files`.
/// Errors: throws Error like `CaseFiles::file` and `case_files_of`.
std::vector<const CaseFile*> files_named(const std::vector<std::string>& words, CaseFiles& files);

}  // namespace opbench
