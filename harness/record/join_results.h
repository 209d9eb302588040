#pragma once

#include <vector>

#include "harness/record/results_file.h"

namespace opbench {

/// The results of several files, such as the shards of a run, as those of one run: records in the
/// order of the files, times and cases added up, machine and date of the first, every command on a
/// line of its own.
/// Errors: throws Error that names the file for results of another machine or another build, and
/// for a record that an earlier file has too: ratios between such numbers mean nothing.
ResultsFile join_results(std::vector<ResultsFile> files);

}  // namespace opbench
