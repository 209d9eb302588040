#pragma once

#include <optional>
#include <span>
#include <vector>

#include "harness/plan/context_plan.h"
#include "harness/run/record.h"

namespace opbench {

/// Median time of each node over rounds of all nodes; empty without rounds.
std::vector<double> task_medians(std::span<const std::vector<double>> rounds);

/// Measurements of a step, in addition to its samples.
struct StepMeasurement {
  std::vector<double> task_us;  ///< of each node, median over the rounds; empty: not timed
  bool has_overflow = false;
  int skipped_updates = 0;
  std::optional<double> gradient_error;  ///< against the anchor; none: not compared
};

/// The tasks, types, conversions and memory of a step.
StepDetails step_details(const PlannedContext& planned, std::size_t index,
                         const StepMeasurement& measured);

/// Sets the speed-ups of steps, per sample: over the step that each builds on, and over the first.
void compare_steps(const PlannedContext& planned, std::span<Record> records);

}  // namespace opbench
