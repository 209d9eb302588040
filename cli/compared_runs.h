#pragma once

#include "cli/command.h"
#include "compare/dump_comparison.h"

namespace opbench {

/// Are both files of `opbench run --artefact`?
bool are_runs(DumpComparison& comparison);

/// Prints a table of the runs in both files, of which the tensors were measured. Exit code 1 if a
/// verdict was lost, an error grew or a result is gone; 4 if they have no result in common.
int compare_two_runs(DumpComparison& measured, CommandContext& context);

}  // namespace opbench
