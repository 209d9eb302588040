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

/// Runs one unit of a plan in this process. What an interrupt has cut short is no result:
/// `run.was_interrupted` says so.
UnitResult run_unit(const UnitPlan& plan, std::size_t unit, const RunOptions& options,
                    const RunHooks& hooks);

/// What is recorded of a unit whose process was lost: each of its variants errored, for this
/// reason.
UnitResult lost_unit(const UnitPlan& plan, std::size_t unit, const RunOptions& options,
                     const std::string& reason, double seconds);

/// Runs units in a process of its own, so that a variant that crashes costs its own results alone,
/// and a unit that hangs that unit. The process is started when it is first needed, and again after
/// it was lost.
class UnitChild {
 public:
  /// `args`: the program and what makes it answer as `serve_units` does. `seconds`: after which a
  /// unit is ended.
  UnitChild(std::vector<std::string> args, const UnitPlan& plan, const RunOptions& options,
            double seconds);

  /// The unit's result, or that of `lost_unit`. Errors: throws RunError if interrupted, Error if
  /// the process cannot be started or has another plan.
  UnitResult run(std::size_t unit);

 private:
  /// `crashed`: variants that are left out, and why. Errors: throws ChildLost.
  UnitResult attempt(std::size_t unit, const std::map<std::string, std::string>& crashed);
  std::string read_answer();
  void start();

  std::vector<std::string> args_;
  const UnitPlan& plan_;
  const RunOptions& options_;
  double seconds_;
  std::unique_ptr<ChildProcess> process_;
  std::string running_;  ///< the variant that it said last
};

/// The other side: says which plan it has, then runs the unit of every number that it reads and
/// answers with its line, until `in` ends. With `takes_turns` it measures in turn with other
/// processes, and tells when it waits for one, which is no time of the unit.
void serve_units(const UnitPlan& plan, const RunOptions& options, bool takes_turns,
                 std::istream& in, std::ostream& out);

}  // namespace opbench::units
