#pragma once

#include <string>
#include <vector>

#include "harness/run/step_results.h"

namespace opbench {

/// The results that steps are held to: those of the first step with inputs of the same shapes.
class FirstResults {
 public:
  /// Compares what a step has left in memory with the first step's results of the same names and
  /// shapes, or keeps it if it is the first. Fails if an output of the context has no partner, and
  /// says how many other results have none. After an overflow neither gradients nor updated
  /// parameters are meant, and the step is no standard for others.
  Judgement hold(const PlannedStep& step, const TensorStorage& storage,
                 const std::map<std::size_t, double>& random_sums, bool has_overflow);

 private:
  struct First {
    std::string step;
    StepInputs inputs;
    std::vector<StepResult> results;
  };

  std::vector<First> firsts_;
};

}  // namespace opbench
