#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/command.h"

namespace opbench {

/// A user's choice of a dump's records. The records of all three are taken together.
struct RecordChoice {
  std::vector<std::string> paths;  ///< --path: operators, records or tensors
  std::string only;                ///< --only: a regular expression
  std::string failed;              ///< --failed: the file of a comparison or a judgement

  bool is_all() const { return paths.empty() && only.empty() && failed.empty(); }
};

/// Copies the chosen records of the dump `from` to the file `to` as they are. Prints what it copied
/// and returns the exit code: `kNothingToJudge` if there is no such record. Errors: throws Error
/// for a file or a path that cannot be used, RunError if `to` cannot be written.
int copy_records(const std::string& from, const std::string& to, const RecordChoice& choice,
                 CommandContext& context);

/// Selects arrays by their names ("softplus/2/input/self"); null: all. --path and --failed need
/// one dump as the source. Errors: as above.
std::function<bool(std::string_view)> chosen_arrays(const std::vector<std::string>& sources,
                                                    const RecordChoice& choice);

}  // namespace opbench
