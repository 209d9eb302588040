#include "harness/plan/call_plan.h"

#include <vector>

#include "harness/plan/case_graph.h"
#include "harness/plan/reference_kernel.h"
#include "tensor/error.h"

namespace opbench {

std::optional<PlannedCase> plan_call(const Problem& problem, const Kernel& kernel,
                                     std::span<const Format> formats) {
  std::vector<Format> tried(formats.begin(), formats.end());
  if (tried.empty()) {
    tried = {problem.inputs.front().format};
    tried.insert(tried.end(), problem.op->formats.begin(), problem.op->formats.end());
  }
  for (const Format format : tried) {
    try {
      PlannedCase plan{case_of(problem), {}, {}};
      plan.spec.format = format;
      plan.graph = build_graph(plan.spec);
      plan.variants = {&kernel == &reference_kernel() ? select_reference(plan.graph)
                                                      : select_kernels(plan.graph, kernel)};
      if (plan.variants[0].refusal.empty()) return plan;
    } catch (const Error&) {
      // The operator does not support this format; try the next one.
    }
  }
  return std::nullopt;
}

}  // namespace opbench
