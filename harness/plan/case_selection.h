#pragma once

#include <string>
#include <vector>

#include "harness/plan/case_values.h"
#include "harness/plan/part.h"

namespace opbench {

/// Which cases, contexts and variants are meant: what `run`, `check` and the workers of a check
/// share. Each member but the last has a row in selection_fields.h, which makes an option of it.
struct CaseSelection {
  std::vector<std::string> ops;  ///< to run over the shapes of `shapes_file`
  std::string shapes_file;
  std::vector<std::string> case_files;
  std::vector<std::string> case_ids;
  std::string filter;           ///< regular expression on case id or name; empty: all
  std::vector<DType> dtypes;    ///< empty: those of the file
  std::vector<Format> formats;  ///< empty: those of the file
  std::vector<std::string> variants;
  bool backward = false;
  Symbols symbols;
  Part part;  ///< every N-th of them; of `run`, which shares units out by their cost, the whole

  bool operator==(const CaseSelection&) const = default;
};

}  // namespace opbench
