#include "harness/run/first_results.h"

#include <fmt/format.h>

#include <algorithm>

#include "harness/plan/precision.h"

namespace opbench {
namespace {

bool is_left_out(const StepResult& result, bool has_overflow) {
  if (result.name == kOverflowFlag) return true;
  return has_overflow && (result.name.starts_with("grad_") || result.name.starts_with("updated_"));
}

bool is_output(const PlannedStep& step, const std::string& name) {
  const std::vector<std::string>& outputs = step.spec.graph->outputs;
  return std::find(outputs.begin(), outputs.end(), name) != outputs.end();
}

}  // namespace

Judgement FirstResults::hold(const PlannedStep& step, const TensorStorage& storage,
                             const std::map<std::size_t, double>& random_sums, bool has_overflow) {
  std::vector<StepResult> results = collect_results(step, storage, random_sums);
  std::erase_if(results, [&](const StepResult& r) { return is_left_out(r, has_overflow); });
  const StepInputs inputs = inputs_of(step);
  const auto first = std::find_if(firsts_.begin(), firsts_.end(),
                                  [&](const First& f) { return f.inputs == inputs; });
  if (first == firsts_.end()) {
    if (!has_overflow) firsts_.push_back({step.spec.name, inputs, std::move(results)});
    return {};
  }
  std::vector<StepResult> actual, expected;
  std::size_t alone = 0;
  for (StepResult& result : results) {
    if (const StepResult* const partner = partner_of(result, first->results)) {
      actual.push_back(std::move(result));
      expected.push_back(*partner);
    } else if (is_output(step, result.name)) {
      return {Verdict::failed, fmt::format("step '{}' has no output {} of shape {}", first->step,
                                           result.name, to_string(result.desc.shape))};
    } else {
      ++alone;
    }
  }
  const Judgement judged = compare_results(actual, expected, step.spec.standard);
  if (judged.verdict == Verdict::failed) {
    return {Verdict::failed, fmt::format("other than step '{}': {}", first->step, judged.reason)};
  }
  if (alone == 0) return {};
  return {Verdict::passed,
          fmt::format("{} results have no partner in step '{}'", alone, first->step)};
}

}  // namespace opbench
