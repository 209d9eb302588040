#pragma once

#include <cstddef>
#include <iosfwd>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "harness/run/part_file.h"
#include "harness/run/runner.h"
#include "harness/run/unit_plan.h"
#include "workers/process.h"

namespace opbench::units {

/// Runs one unit of a plan in this process. If an interrupt cuts it short, `run.was_interrupted` is
/// set and the result must not be used.
UnitResult run_unit(const UnitPlan& plan, std::size_t unit, const RunOptions& options,
                    const RunHooks& hooks);

/// Result of a unit whose process was lost: each of its variants has `errored` with this reason.
UnitResult lost_unit(const UnitPlan& plan, std::size_t unit, const RunOptions& options,
                     const std::string& reason, double seconds);

/// Runs units in a separate process. A variant that crashes loses only its own results, and a unit
/// that hangs loses only its own. The process is started at the first unit, and again after it was
/// lost.
class UnitChild {
 public:
  /// `args`: the command line of a process that calls `serve_units`. `seconds`: time limit of a
  /// unit.
  UnitChild(std::vector<std::string> args, const UnitPlan& plan, const RunOptions& options,
            double seconds);

  /// The unit's result, or that of `lost_unit`.
  /// Errors: throws RunError if interrupted, Error if the process cannot be started or has another
  /// plan.
  UnitResult run(std::size_t unit);

 private:
  /// `crashed`: variants that are left out, and why.
  /// Errors: throws ChildLost.
  UnitResult attempt(std::size_t unit, const std::map<std::string, std::string>& crashed);
  std::string read_answer();
  void start();

  std::vector<std::string> args_;
  const UnitPlan& plan_;
  const RunOptions& options_;
  double seconds_;
  std::unique_ptr<ChildProcess> process_;
  std::string running_;  ///< the variant that it announced last
};

/// Server side. Writes the digest of its plan, then runs the unit of every number that it reads and
/// answers with its line, until `in` ends. With `takes_turns` it measures in turn with other
/// processes. It announces a wait for the turn, because this does not count as the unit's time.
void serve_units(const UnitPlan& plan, const RunOptions& options, bool takes_turns,
                 std::istream& in, std::ostream& out);

}  // namespace opbench::units
