#pragma once

#include <vector>

#include "compare/matching.h"
#include "compare/name_map.h"

namespace opbench {

/// Tensors of one call paired with those of another by side and name, else by the name that `map`
/// gives the parameter; inputs, outputs, then others. Either record may be null. Every entry that
/// is a tensor or cannot be read appears exactly once.
std::vector<TensorMatch> match_tensors(const DumpRecord* actual, const DumpRecord* expected,
                                       const NameMap& map);

/// True for what a comparison accounts for: tensors, and whatever cannot be read.
bool is_accounted_for(const DumpEntry& entry);

}  // namespace opbench
