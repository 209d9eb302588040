#pragma once

#include <string>
#include <vector>

#include "harness/run/results_file.h"

namespace opbench {

/// Difference of two machines or builds that makes their numbers incomparable: "machine.cpu is 'A',
/// and 'B'"; empty: comparable.
std::string machine_difference(const Machine& first, const Machine& other);

/// Adds records, times and cases of one run to those of another on the same machine.
void add_run(RunResult& sum, RunResult more);

/// Shifts the start times of all samples by `us` microseconds, to another clock.
void shift_samples(RunResult& run, double us);

/// Exit code of a run with these results and those of other machines.
ExitCode exit_code_of(const ResultsFile& file);

/// Joins the results of several files, such as runs of other cases, to those of one run. Records
/// are in the order of the files, times and cases are added, and machine and date are those of the
/// first. Each command is a line.
/// Errors: throws Error that names the file for results of another machine or build, and for a
/// record that an earlier file also has: ratios between such numbers are meaningless.
ResultsFile join_results(std::vector<ResultsFile> files);

}  // namespace opbench
