#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cli/progress.h"
#include "harness/run/merge_parts.h"
#include "harness/run/part_file.h"
#include "harness/run/run_folder.h"
#include "workers/dispatch.h"

namespace opbench {

/// Runs a unit where it is; none: it was interrupted.
using RunsUnit = std::function<std::optional<units::UnitResult>(std::size_t unit)>;

/// What every rank of a run does with the units that it is handed: the answer is the rank's number,
/// the header of its lines before the first, and the line of the unit.
UnitWork unit_work(const Ranks& ranks, const units::PartHeader& header, RunsUnit run);

/// Rank 0's side of a run on several ranks: hands units out and writes what comes back, for each
/// rank a file of its own, since ranks may be on unlike machines.
class RankedUnits {
 public:
  /// Without a folder results are kept in memory alone.
  RankedUnits(Ranks& ranks, const units::UnitPlan& plan, const units::RunFolder* folder,
              UnitsProgress& progress)
      : ranks_(ranks), plan_(plan), folder_(folder), progress_(progress) {}

  /// Errors: those of `dispatch`; RunError if a result cannot be written.
  void run(const std::vector<std::size_t>& todo, const UnitWork& work);

  /// Everything: what the folder holds, or what came back.
  units::CollectedUnits collected() const;

 private:
  void take(const std::string& answer);

  Ranks& ranks_;
  const units::UnitPlan& plan_;
  const units::RunFolder* folder_;
  UnitsProgress& progress_;
  std::map<int, std::unique_ptr<units::PartFile>> files_;
  std::map<int, std::string> texts_;
};

}  // namespace opbench
