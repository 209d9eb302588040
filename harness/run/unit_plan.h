#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "harness/plan/case_selection.h"
#include "harness/plan/context_plan.h"
#include "harness/plan/options.h"
#include "harness/plan/plan.h"

namespace opbench::units {

/// What is handed out, run and recorded as one: a case with all its variants and numbers of
/// threads, or a context with its steps.
struct Unit {
  std::string id;      ///< of the case or the context
  double seconds = 0;  ///< expected, for the order and the balance of parts alone
};

/// A whole run in units: first the cases, then the contexts, both in their order.
struct UnitPlan {
  std::vector<PlannedCase> cases;
  std::vector<PlannedContext> contexts;
  std::vector<Unit> units;
  /// 16 hexadecimal digits of everything that decides what runs: the build, how it measures, and of
  /// each unit its id, variants, data and what is expected of it. Results with different ones are
  /// of different runs. The machine is no part of it.
  std::string digest;
};

/// `isa`: as asked for; empty: the best there is.
UnitPlan plan_units(std::vector<PlannedCase> cases, std::vector<PlannedContext> contexts,
                    const RunOptions& options, const std::string& isa);

/// The expected cost of every unit in seconds on no machine in particular: from bytes, operations,
/// variants and how long they are timed. The same numbers everywhere.
double expected_seconds(const PlannedCase& planned, const RunOptions& options);
double expected_seconds(const PlannedContext& planned, const RunOptions& options);

/// All units of the plan, largest expected cost first; equal ones in their order.
std::vector<std::size_t> largest_first(const UnitPlan& plan);

/// Which part each unit belongs to, from 0: each, largest first, goes to the part that has least to
/// do. The same on every machine.
std::vector<int> part_of_units(const UnitPlan& plan, int count);

/// The units of a part in the plan's order.
std::vector<std::size_t> units_of(const UnitPlan& plan, const Part& part);

}  // namespace opbench::units
