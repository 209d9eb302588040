#include "judge/inputs_there.h"

#include <fmt/format.h>

namespace opbench {

std::string inputs_there(const CallToJudge& what, std::size_t output, std::int64_t index) {
  const Problem& problem = what.problem;
  const bool is_elementwise =
      !problem.op->mixes_elements() && problem.op->accuracy == AccuracyClass::rounded;
  if (!is_elementwise || index < 0) return {};
  std::string text;
  for (std::size_t i = 0; i < problem.inputs.size(); ++i) {
    const TensorDesc& desc = problem.inputs[i];
    if (desc.shape != problem.outputs[output].shape) continue;
    double value = 0;
    read_doubles(desc, what.inputs[i], {index, 1}, {&value, 1});
    text += fmt::format("{} {}={}", text.empty() ? "inputs there:" : ",", problem.op->input_name(i),
                        value_text(value));
  }
  return text;
}

}  // namespace opbench
