#pragma once

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "harness/run/step_results.h"
#include "harness/run/verify.h"
#include "tensor/elements.h"
#include "tensor/parallel.h"

namespace opbench {

/// Loads a step with `seed`, runs it, judges every node, and returns the results.
inline std::vector<StepResult> results_of(const PlannedStep& step, std::uint64_t seed = 1) {
  const Workspace memory(step.memory.bytes);
  const UnitVariant variant = unit_variant(step);
  std::vector<StepResult> results;
  with_threads(2, [&] {
    const BoundGraph bound(step.graph, step.selection.kernels, memory.storage_of(variant), 2,
                           variant.saturates());
    memory.load(variant, seed);
    Verifier verifier({.enough = 2, .stops_at_failure = true});
    const Verification found = verifier.verify(variant, memory, bound, 2);
    EXPECT_NE(found.judgement.verdict, Verdict::failed) << found.judgement.reason;
    memory.load(variant, seed);
    bound.run();
    results = collect_results(step, memory.storage_of(variant));
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

/// Elements of that result, in logical order.
inline std::vector<double> numbers_of(const std::vector<StepResult>& results,
                                      const std::string& name) {
  const StepResult& result = result_named(results, name);
  std::vector<double> numbers(static_cast<std::size_t>(result.desc.elements()));
  to_doubles(result.desc.dtype, result.values.data(), result.desc.elements(), numbers.data());
  return numbers;
}

}  // namespace opbench
