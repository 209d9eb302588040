#pragma once

#include <optional>
#include <stdexcept>
#include <string>

#include "harness/plan/case_files.h"
#include "harness/plan/context_graph.h"
#include "harness/plan/format_plan.h"
#include "harness/plan/lowering.h"
#include "harness/plan/plan_search.h"
#include "harness/plan/plan_tasks.h"
#include "tests/support/source_tree.h"

namespace opbench {

/// A context of a case file, with one image.
inline Context context_in(const std::string& file, const std::string& name) {
  const CaseFile read = load_case_file(source_file("cases/" + file), {{"N", 1}});
  for (const Context& context : read.contexts) {
    if (context.name == name) return context;
  }
  throw std::runtime_error("no context " + name);
}

/// Cost that the planner gives for values with some settings; none: it refuses.
inline std::optional<PlanCost> planned(const LogicalGraph& values, const PlanSetting& setting) {
  try {
    const PhysicalGraph plan = plan_formats(lower(values, setting.variants, setting.rules),
                                            setting.variants, setting.rules);
    return plan_cost(plan.graph, plan.selection);
  } catch (const NoKernel&) {
    return std::nullopt;
  }
}

/// The search of one step, with all objects that it refers to.
struct StepSearch {
  StepSearch(const Context& context, const ContextStep& step, DType dtype)
      : written{step.variants, step.rules},
        values(build_context_graph(context, step, dtype)),
        choices(choices_of(values, written)),
        search(values, choices, written, 1'000'000'000) {}

  const PlanSetting written;
  const LogicalGraph values;
  const std::vector<Choice> choices;
  PlanSearch search;
};

}  // namespace opbench
