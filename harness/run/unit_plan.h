#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "harness/plan/case_selection.h"
#include "harness/plan/options.h"
#include "harness/plan/work_unit.h"

namespace opbench::units {

/// Name and expected cost of a unit: for the order, the balance of parts and the progress.
struct UnitCost {
  std::string id;
  double seconds = 0;
};

/// A whole run in work units. Each is distributed, run and recorded as a whole.
struct UnitPlan {
  std::vector<WorkUnit> units;
  std::vector<UnitCost> costs;  ///< of each unit
  /// 16 hexadecimal digits: hash of everything that decides what runs. It includes the build, the
  /// measuring options, and of each unit its id, variants, data and expectation. Results with
  /// different digests belong to different runs. The machine is not included.
  std::string digest;
};

/// `isa`: the requested one; empty: the best of the machine.
UnitPlan plan_units(std::vector<WorkUnit> units, const RunOptions& options, const std::string& isa);

/// Expected cost of a unit in seconds on a typical machine, with all its numbers of threads: from
/// bytes, operations, variants and their measuring time. It is equal everywhere.
double expected_seconds(const WorkUnit& unit, const RunOptions& options);

/// All units of the plan, largest expected cost first. Units of equal cost keep their order.
std::vector<std::size_t> largest_first(const UnitPlan& plan);

/// Part of each unit, from 0. Each unit, largest first, is given to the part with the least work.
/// The result is equal on every machine.
std::vector<int> part_of_units(const UnitPlan& plan, int count);

/// Units of a part, in the plan's order.
std::vector<std::size_t> units_of(const UnitPlan& plan, const Part& part);

}  // namespace opbench::units
