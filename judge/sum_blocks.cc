#include "judge/sum_blocks.h"

#include <vector>

#include "ops/intermediates.h"

namespace opbench {

bool for_each_sum_block(const CallUnderJudgement& call, std::size_t output,
                        const std::function<void(const SumBlock&)>& look) {
  const Problem& problem = call.problem();
  const TensorDesc& desc = problem.outputs[output];
  const Reference terms = intermediates_of(*problem.op, call.inputs(), problem.attrs).rounding;
  if (terms == nullptr) return false;
  const Reference expected = problem.op->reference(call.inputs(), problem.attrs);
  std::vector<double> actual_values, expected_values, term_values;
  for (std::int64_t i = 0; i < block_count(desc); ++i) {
    const ElementRange range = block(desc, i);
    for (auto* values : {&actual_values, &expected_values, &term_values}) {
      values->resize(static_cast<std::size_t>(range.count));
    }
    read_doubles(desc, call.output(output), range, actual_values);
    expected(output, range, expected_values);
    terms(output, range, term_values);
    look({range, actual_values, expected_values, term_values});
  }
  return true;
}

}  // namespace opbench
