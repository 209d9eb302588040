#include "judge/call_under_judgement.h"

namespace opbench {

std::vector<double> values_of(const TensorDesc& desc, const void* storage) {
  return InputReader(desc, storage).read_all();
}

std::vector<double> expected_values(const CallUnderJudgement& call, std::size_t output) {
  const Problem& problem = call.problem();
  const TensorDesc& desc = problem.outputs[output];
  const ElementRange all{0, desc.elements()};
  if (problem.op->exact_reference != nullptr) {
    Tensor golden(describe(desc.dtype, desc.shape));
    problem.op->exact_reference(call.inputs(), problem.attrs)(output, all, golden.data());
    return values_of(golden.desc, golden.data());
  }
  std::vector<double> expected(static_cast<std::size_t>(all.count));
  problem.op->reference(call.inputs(), problem.attrs)(output, all, expected);
  return expected;
}

}  // namespace opbench
