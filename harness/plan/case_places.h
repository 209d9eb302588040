#pragma once

#include <string>
#include <vector>

#include "harness/plan/case_files.h"

namespace opbench {

/// The folder of the case files that were installed with the program that runs: from bin/opbench
/// ../share/opbench/cases. It need not be there.
std::string installed_cases();

/// The case file that `path` names: as given or, where there is none, below the installed ones
/// ("resnet.yaml" and "cases/resnet.yaml" alike). `path` itself where neither is there.
std::string find_case_file(const std::string& path);

/// What a word of --cases names, sorted: a file, the *.yaml and *.yml files of a folder, or what
/// matches a pattern with *, ? and [...]; each looked for as given and then among the installed.
/// Errors: throws Error if a pattern or a folder has no case file.
std::vector<std::string> case_files_of(const std::string& word);

/// The files that the words of --cases name, in order; of a folder and a pattern those that have
/// cases or contexts. Pointers go into `files`. Errors: throws Error like `CaseFiles::file` and
/// `case_files_of`.
std::vector<const CaseFile*> files_named(const std::vector<std::string>& words, CaseFiles& files);

}  // namespace opbench
