#pragma once

#include <vector>

#include "harness/plan/case_values.h"
#include "harness/plan/context_template.h"

namespace opbench {

/// What the contexts of a file see of the rest of it.
struct ContextSurroundings {
  const Symbols& symbols;
  const std::vector<DType>& dtypes;  ///< of contexts that state none; empty: fp32
  const Blocks& blocks;
};

}  // namespace opbench
