#pragma once

#include <string>
#include <vector>

#include "harness/run/results_file.h"

namespace opbench {

/// What keeps numbers of two machines or builds out of one table, of the machine described last:
/// "machine.cpu is 'A', and 'B'"; empty: nothing.
std::string machine_difference(const Machine& first, const Machine& other);

/// Adds records, times and cases of one run to those of another on the same machine.
void add_run(RunResult& sum, RunResult more);

/// Moves the beginnings of all samples by so many microseconds, to another clock.
void shift_samples(RunResult& run, double us);

/// How a run ended whose results are these, with their others.
ExitCode exit_code_of(const ResultsFile& file);

/// The results of several files, such as runs of other cases, as those of one run: records in the
/// order of the files, times and cases added up, machine and date of the first, every command on a
/// line of its own.
/// Errors: throws Error that names the file for results of another machine or another build, and
/// for a record that an earlier file has too: ratios between such numbers mean nothing.
ResultsFile join_results(std::vector<ResultsFile> files);

}  // namespace opbench
