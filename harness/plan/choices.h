#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "harness/plan/context_graph.h"
#include "harness/plan/context_settings.h"
#include "harness/plan/lowering.h"

namespace opbench {

/// What a step sets beside its graph.
struct PlanSetting {
  Variants variants;
  FrameworkRules rules;
};

/// Something that a step may set without changing its results: a rule of the framework, or the
/// variant of an operator.
struct Choice {
  std::string name;                 ///< of the rule or of the operator
  const RuleWords* rule = nullptr;  ///< null: the variant of an operator
  std::vector<std::string> words;   ///< what it may be, first as it is written
  bool is_graph = false;            ///< it decides which operators there are

  /// Sets it to a word; the first leaves it as it is.
  void set(PlanSetting& setting, std::size_t word) const;
};

/// A word for each choice. All 0: as written.
using Point = std::vector<std::size_t>;

/// What may be chosen for a context whose values are `values`, in the order of the rules and then
/// of the operators' names. Rules that change results (allow_fp32_to_fp16) are none of them.
/// Variants are the operator's forms and the device's kernels that take any values and compute in
/// the type that they store: nothing moves to the framework or to another library. What the context
/// has is among them whatever it is.
std::vector<Choice> choices_of(const LogicalGraph& values, const PlanSetting& written);

PlanSetting setting_of(const std::vector<Choice>& choices, const PlanSetting& written,
                       const Point& point);

/// How many choices are not as written.
std::size_t changes_of(const Point& point);

}  // namespace opbench
