#pragma once

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "harness/run/context_memory.h"
#include "harness/run/step_check.h"
#include "tensor/parallel.h"

namespace opbench {

/// Loads a step with `seed`, runs it, judges every node, and returns its results.
inline std::vector<StepResult> results_of(const PlannedStep& step, std::uint64_t seed = 1) {
  const ContextMemory memory(step.memory.bytes);
  std::vector<StepResult> results;
  with_threads(2, [&] {
    const bool saturates = step.spec.precision.half == Precision::Half::saturate;
    const BoundGraph bound(step.graph, step.selection.kernels, memory.storage_of(step), 2,
                           saturates);
    memory.load(step, seed);
    StepChecker checker;
    const StepCheck found = checker.check(step, memory, bound);
    EXPECT_NE(found.judgement.verdict, Verdict::failed) << found.judgement.reason;
    memory.load(step, seed);
    bound.run();
    results = collect_results(step, memory.storage_of(step));
  });
  return results;
}

inline const StepResult& result_named(const std::vector<StepResult>& results,
                                      const std::string& name) {
  for (const StepResult& result : results) {
    if (result.name == name) return result;
  }
  throw std::out_of_range("no result '" + name + "'");
}

}  // namespace opbench
