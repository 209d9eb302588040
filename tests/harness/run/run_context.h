#pragma once

#include <string>
#include <vector>

#include "harness/plan/case_files.h"
#include "harness/run/unit_runner.h"

namespace opbench {

/// Options with three short samples of every step.
inline RunOptions quick() {
  RunOptions options;
  options.seconds_per_case = 0.002;
  options.repetitions = 3;
  return options;
}

/// The only context of a case file's text, with all steps, in its first dtype.
inline PlannedContext planned_text(const std::string& text) {
  PlannedContext planned;
  planned.spec = parse_case_file(text, "f.yaml", {}).contexts.at(0);
  planned.dtype = planned.spec.dtypes.at(0);
  for (const ContextStep& step : planned.spec.steps) {
    planned.steps.push_back(plan_step(planned.spec, step, planned.dtype));
  }
  return planned;
}

inline std::vector<Record> run_planned(const PlannedContext& planned,
                                       const RunOptions& options = quick()) {
  PhaseTimes times;
  return run_work_unit(planned, options, 2, {}, times);
}

inline std::vector<Record> run_text(const std::string& text) {
  return run_planned(planned_text(text));
}

inline std::vector<std::string> variants_of(const std::vector<Record>& records) {
  std::vector<std::string> names;
  for (const Record& record : records) names.push_back(record.variant);
  return names;
}

}  // namespace opbench
