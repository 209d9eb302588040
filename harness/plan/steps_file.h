#pragma once

#include <span>
#include <string>

#include "harness/plan/case_values.h"
#include "harness/plan/remedy.h"

namespace opbench {

/// A remedy and its context.
struct ContextRemedy {
  std::string context;  ///< its name in the case file
  DType dtype = DType::fp32;
  Remedy remedy;
};

/// Text of a case file with the contexts of `text`, which is the content of the file at `path`. The
/// steps are those of the remedies: the step that the search began with, then each step of the
/// remedy. Symbols have the values of `symbols` if it states them.
/// Errors: throws Error if the text does not have the contexts.
std::string steps_file_text(const std::string& text, const std::string& path,
                            const Symbols& symbols, std::span<const ContextRemedy> remedies);

}  // namespace opbench
