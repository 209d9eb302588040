#pragma once

#include <optional>
#include <set>
#include <string>

#include "cli/run_flags.h"
#include "harness/plan/case_filter.h"
#include "harness/run/results_file.h"

namespace opbench {

/// The part of stored results that the flags of a selection name. Cases that --shapes, --cases,
/// --case, --set and --backward name are planned as for a run, so a mistake in them has the same
/// message; all other flags are matched with what the records say.
class StoredSelection {
 public:
  /// Errors: throws Error for a selection that is wrong, and for flags that say how to run.
  explicit StoredSelection(const RunFlags& flags);

  /// Throws Error for an operator or a variant that none of these results has, with the most
  /// similar name.
  void require_names(const ResultsFile& baseline, const ResultsFile& current) const;
  /// True where no flag leaves anything out.
  bool is_everything() const;
  /// Leaves the records that are selected.
  void narrow(ResultsFile& results) const;

 private:
  bool takes(const Record& record) const;

  RunOptions options_;
  CaseFilter filter_;
  std::optional<std::set<std::string>> keys_;  ///< of the cases that are named; none: all
};

}  // namespace opbench
