#include "harness/plan/framework_rules.h"

#include <fmt/format.h>

namespace opbench {

std::string engine_refusal(const Problem& problem, const FrameworkRules& rules) {
  const auto refusal = problem.op->context.engine_refusal;
  return refusal == nullptr ? std::string() : refusal(problem, rules);
}

std::optional<FormatChoice> output_format(const FormatQuery& query, std::size_t output) {
  const Op& op = *query.problem.op;
  if (op.context.output_format != nullptr) {
    if (auto choice = op.context.output_format(query)) return choice;
  }
  const std::size_t rank = query.problem.outputs[output].shape.size();
  const bool is_alike = rank > 0 && !query.given.empty() && query.given[0].shape.size() == rank;
  if (!is_alike || op.input(0).has_own_dtype()) return std::nullopt;
  return FormatChoice{query.given[0].format,
                      fmt::format("{}: the output follows the first input", op.name)};
}

FormatChoice input_format(const FormatQuery& query) {
  const Op& op = *query.problem.op;
  if (op.context.input_format != nullptr) {
    if (auto choice = op.context.input_format(query)) return *choice;
  }
  // A scalar has no format.
  std::size_t first = op.context.leading_input;
  while (first + 1 < query.given.size() && query.given[first].shape.empty()) ++first;
  const Format format = query.given[first].format;
  return {format, fmt::format("{}: follows its first input, {}", op.name, name(format))};
}

}  // namespace opbench
