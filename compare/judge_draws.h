#pragma once

#include <optional>

#include "compare/judge_call.h"
#include "dump/dump_types.h"
#include "ops/op_table.h"

namespace opbench {

/// Checks the results of a record that draws at random against the distribution with the recorded
/// numbers (see wrong_draws), for at most 4 M elements. Empty if nothing is wrong, or if the record
/// does not have the distribution. Errors: those of DumpSource.
std::optional<OutputFinding> judge_draws(const RecordFiles& files, const DumpRecord& record,
                                         Drawn drawn);

}  // namespace opbench
