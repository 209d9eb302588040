#pragma once

#include <optional>

#include "compare/judge_call.h"
#include "dump/dump_types.h"
#include "ops/op_table.h"

namespace opbench {

/// Holds the results of a record that draws at random to the distribution whose numbers it records
/// (see wrong_draws), on 4 M elements at most. None: nothing is wrong, or the record does not tell
/// the distribution. Errors: those of DumpSource.
std::optional<OutputFinding> judge_draws(const RecordFiles& files, const DumpRecord& record,
                                         Drawn drawn);

}  // namespace opbench
