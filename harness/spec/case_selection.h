#pragma once

#include <string>
#include <vector>

#include "harness/spec/case_values.h"

namespace opbench {

/// Part `index` of `count` of the cases, from 1: every count-th from the index-th.
struct Shard {
  int index = 1, count = 1;

  bool operator==(const Shard&) const = default;

  /// Whether the case at `place`, from 0, belongs to it.
  bool takes(std::size_t place) const {
    return place % static_cast<std::size_t>(count) == static_cast<std::size_t>(index - 1);
  }
};

/// Which cases, contexts and variants are meant: what `run`, `check` and the workers of a check
/// share. Each member has a row in selection_fields.h, which makes an option of it.
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
  Shard shard;

  bool operator==(const CaseSelection&) const = default;
};

}  // namespace opbench
