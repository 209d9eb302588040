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

/// A whole run in units, each handed out, run and recorded as one.
struct UnitPlan {
  std::vector<WorkUnit> units;
  std::vector<UnitCost> costs;  ///< of each
  /// 16 hexadecimal digits of everything that decides what runs: the build, how it measures, and of
  /// each unit its id, variants, data and what is expected of it. Results with different ones are
  /// of different runs. The machine is no part of it.
  std::string digest;
};

/// `isa`: as asked for; empty: the best there is.
UnitPlan plan_units(std::vector<WorkUnit> units, const RunOptions& options, const std::string& isa);

/// The expected cost of a unit in seconds on no machine in particular, with all its numbers of
/// threads: from bytes, operations, variants and how long they are timed. The same numbers
/// everywhere.
double expected_seconds(const WorkUnit& unit, const RunOptions& options);

/// All units of the plan, largest expected cost first; equal ones in their order.
std::vector<std::size_t> largest_first(const UnitPlan& plan);

/// Which part each unit belongs to, from 0: each, largest first, goes to the part that has least to
/// do. The same on every machine.
std::vector<int> part_of_units(const UnitPlan& plan, int count);

/// The units of a part in the plan's order.
std::vector<std::size_t> units_of(const UnitPlan& plan, const Part& part);

}  // namespace opbench::units
