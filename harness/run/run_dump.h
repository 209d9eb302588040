#pragma once

#include "dump/dump_writer.h"
#include "harness/plan/selection.h"
#include "harness/run/run_hooks.h"

namespace opbench {

/// Writes one record for every node of a graph that a variant has computed: inputs, attributes,
/// outputs.
void dump_graph(DumpWriter& writer, const PlannedCase& planned, const Selection& selection,
                const Workspace& workspace);

}  // namespace opbench
