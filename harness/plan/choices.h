#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "harness/plan/context_graph.h"
#include "harness/plan/context_settings.h"
#include "harness/plan/lowering.h"

namespace opbench {

/// Settings of a step, apart from its graph.
struct PlanSetting {
  Variants variants;
  FrameworkRules rules;
};

/// A setting that a step may change without changing its results: a rule of the framework, or the
/// variant of an operator.
struct Choice {
  std::string name;                 ///< name of the rule or of the operator
  const RuleWords* rule = nullptr;  ///< null: the choice is the variant of an operator
  std::vector<std::string> words;   ///< its possible values; the first is that of the written step
  bool is_graph = false;            ///< it decides which operators the graph has

  /// Sets it to a word. The first word leaves it unchanged.
  void set(PlanSetting& setting, std::size_t word) const;
};

/// A word for each choice. All 0: the written step.
using Point = std::vector<std::size_t>;

/// Choices for a context whose values are `values`, in the order of the rules and then of the
/// operators' names. Rules that change results (allow_fp32_to_fp16) are left out. Variants are the
/// operator's forms and the device's kernels that take any values and compute in the dtype that
/// they store. Variants of the framework and other libraries are left out. The variant that the
/// context uses is always included.
std::vector<Choice> choices_of(const LogicalGraph& values, const PlanSetting& written);

PlanSetting setting_of(const std::vector<Choice>& choices, const PlanSetting& written,
                       const Point& point);

/// Number of choices that differ from the written step.
std::size_t changes_of(const Point& point);

}  // namespace opbench
