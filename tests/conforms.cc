#include "tests/conforms.h"

#include <gtest/gtest.h>

#include <cstring>

#include "judge/judge_output.h"
#include "tests/evaluate.h"

namespace opbench {
namespace {

// Judges the outputs like a run. Failures at a known limit of the operator pass.
Judgement judged(const Kernel& kernel, const Problem& problem, const std::vector<Tensor>& inputs,
                 const std::vector<Tensor>& outputs, std::size_t output) {
  CallToJudge call = call_of(problem, kernel, false);
  for (const Tensor& input : inputs) call.inputs.push_back(input.data());
  for (const Tensor& made : outputs) call.outputs.push_back(made.data());
  Judgement judgement = judge_output(call, output).judgement;
  const bool is_limit =
      judgement.verdict == Verdict::failed && !reason_of_limit(call, output).empty();
  return is_limit ? Judgement{} : judgement;
}

}  // namespace

Tensor poisoned(const TensorDesc& desc) {
  Tensor tensor(desc);
  std::memset(tensor.data(), 0xFF, desc.bytes());
  return tensor;
}

Tensor filled(const TensorDesc& desc, const Distribution& data, std::uint64_t seed) {
  Tensor tensor = poisoned(desc);
  std::vector<std::byte> values(static_cast<std::size_t>(desc.elements()) * size_of(desc.dtype));
  generate(data, seed, desc.dtype, desc.elements(), {0, desc.elements()}, values.data());
  write_elements(desc, tensor.data(), {0, desc.elements()}, values.data());
  return tensor;
}

std::vector<Tensor> filled_inputs(const Problem& problem) {
  std::vector<Tensor> inputs;
  for (std::size_t i = 0; i < problem.inputs.size(); ++i) {
    Distribution data = default_data(problem, i);
    if (data == Distribution{}) data.b = 3;  // wide enough to reach every branch
    inputs.push_back(filled(problem.inputs[i], data, i + 1));
  }
  return inputs;
}

std::vector<Tensor> poisoned_outputs(const Problem& problem) {
  std::vector<Tensor> outputs;
  for (const TensorDesc& output : problem.outputs) outputs.push_back(poisoned(output));
  return outputs;
}

bool expect_conforms(const Kernel& kernel, const Problem& problem, int threads) {
  if (!refusal(kernel, problem).empty()) return false;
  std::vector<Tensor> inputs = filled_inputs(problem);
  std::vector<Tensor> outputs = poisoned_outputs(problem);
  run_kernel(kernel, problem, pointers_to<const Tensor>(inputs), pointers_to<Tensor>(outputs),
             threads);
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    const Judgement judgement = judged(kernel, problem, inputs, outputs, i);
    EXPECT_NE(judgement.verdict, Verdict::failed)
        << kernel.key() << " on " << to_string(problem.inputs.back()) << ", output " << i << ": "
        << judgement.reason;
  }
  return true;
}

}  // namespace opbench
