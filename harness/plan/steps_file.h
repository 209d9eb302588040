#pragma once

#include <span>
#include <string>

#include "harness/plan/case_values.h"
#include "harness/plan/remedy.h"

namespace opbench {

/// A remedy and what it is for.
struct ContextRemedy {
  std::string context;  ///< its name in the case file
  DType dtype = DType::fp32;
  Remedy remedy;
};

/// A case file with the contexts of `text`, which is the case file at `path`, and the remedies'
/// ladders as their steps: the one that the search began with as it is written, then a step for
/// each of the ladder. Symbols have the values of `symbols` where they state some.
/// Errors: throws Error if the text is not that of the contexts.
std::string steps_file_text(const std::string& text, const std::string& path,
                            const Symbols& symbols, std::span<const ContextRemedy> remedies);

}  // namespace opbench
