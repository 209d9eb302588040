#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "cli/command.h"
#include "cli/progress.h"
#include "cli/run_flags.h"
#include "harness/plan/work_unit.h"
#include "harness/run/merge_parts.h"
#include "harness/run/part_file.h"
#include "harness/run/run_folder.h"
#include "harness/run/unit_plan.h"
#include "workers/dispatch.h"
#include "workers/ranks.h"

namespace opbench {

/// Runs a unit where it is; none: it was interrupted.
using RunsUnit = std::function<std::optional<units::UnitResult>(std::size_t unit)>;

/// Work of every rank of a run on the units that it is handed. The answer packs the rank's number,
/// the header of its lines with the first, and the line of the unit.
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

/// Whether what is asked for is run unit by unit, each recorded as it ends.
bool runs_in_units(const RunFlags& flags, const Ranks& ranks);

/// Whether processes on this machine are to measure in turn.
bool takes_turns(const RunFlags& flags, const RunOptions& options, const Ranks& ranks);

/// Whether a kernel that is not of opbench takes part: it may crash.
bool has_own_kernels(std::span<const WorkUnit> units);

/// Whether flags are given that need all in one process: a dump, or the device's files.
bool needs_one_process(const RunFlags& flags);

/// Errors: throws Error for flags that do not go with --part, --resume, --unit-timeout and several
/// ranks.
void require_takeable_by_units(const RunFlags& flags, const Ranks& ranks);

/// The flag of the process for units that makes it measure in turn with others.
inline constexpr const char* kTakeTurns = "--take-turns";

/// Runs the plan, or a part of it, or what is left of it; returns the exit code.
/// Errors: throws Error for a folder of another run, RunError if a unit cannot be recorded.
int run_in_units(const RunFlags& flags, const RunOptions& options, units::UnitPlan plan,
                 CommandContext& context);

}  // namespace opbench
