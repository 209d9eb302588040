#pragma once

#include "cli/command.h"
#include "cli/compare_flags.h"

namespace opbench {

/// True if both folders of the request hold the dumps of a job's ranks; see list_job. Errors: those
/// of list_job.
bool is_of_jobs(const ComparisonRequest& request);

/// Compares the dumps of two jobs, each rank's at each step with its partner, by all ranks of this
/// start. Writes a report for each and one of the whole. Returns the exit code.
int compare_jobs(const CompareFlags& flags, const ComparisonRequest& request,
                 CommandContext& context);

}  // namespace opbench
