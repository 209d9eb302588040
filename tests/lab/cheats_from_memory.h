#pragma once

#include "tests/lab/planted.h"

namespace opbench {

/// Cheats that return results from earlier calls; see the list in cheats.cc.
Launch returns_the_first(Launch honest, const Problem& problem);
Launch answers_from_memory(Launch honest, const Problem& problem);
Launch stale_by_content(Launch honest, const Problem& problem);
Launch copies_by_content(Launch honest, const Problem& problem);
Launch samples_its_inputs(Launch honest, const Problem& problem);
Launch learns_what_changes(Launch honest, const Problem& problem);

/// True if the middle element of the first output has all bits set, like the poison of a
/// verification.
bool is_poisoned(const Problem& problem, const KernelArgs& args);

}  // namespace opbench
