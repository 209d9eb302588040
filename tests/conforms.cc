#include "tests/conforms.h"

#include <gtest/gtest.h>

#include <cstring>

#include "compare/judge/compare_values.h"
#include "compare/standard/standards.h"
#include "tests/evaluate.h"

namespace opbench {
namespace {

Judgement judge_output(const Kernel& kernel, const Problem& problem,
                       const std::vector<Tensor>& inputs, const std::vector<Tensor>& outputs,
                       std::size_t i) {
  std::vector<InputReader> readers;
  for (const Tensor& input : inputs) readers.emplace_back(input.desc, input.data());
  const TensorDesc& desc = outputs[i].desc;
  const DType dtype = desc.dtype;
  const ElementRange all{0, desc.elements()};
  std::vector<std::byte> expected(static_cast<std::size_t>(all.count) * size_of(dtype));
  std::vector<std::byte> actual(expected.size());
  Standard standard{.kind = StandardKind::mixed,
                    .tolerance = mixed_tolerance(kernel.judged_as.value_or(dtype))};
  if (problem.op->exact_reference != nullptr) {
    const bool any_nan = problem.op->accuracy == AccuracyClass::exact_value;
    standard = {.kind = StandardKind::exact};
    standard.tolerance.equality = any_nan ? Equality::bits_but_nan : Equality::bits;
    problem.op->exact_reference(readers, problem.attrs)(i, all, expected.data());
  } else {
    std::vector<double> golden(static_cast<std::size_t>(all.count));
    problem.op->reference(readers, problem.attrs)(i, all, golden);
    from_doubles(dtype, golden.data(), all.count, expected.data());
  }
  read_elements(desc, outputs[i].data(), all, actual.data());
  return compare_values(actual.data(), dtype, expected.data(), dtype, all.count, standard,
                        desc.shape)
      .judgement;
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
    if (data == Distribution{}) data.b = 3;  // far enough to meet every branch
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
    const Judgement judgement = judge_output(kernel, problem, inputs, outputs, i);
    EXPECT_NE(judgement.verdict, Verdict::failed)
        << kernel.key() << " on " << to_string(problem.inputs.back()) << ", output " << i << ": "
        << judgement.reason;
  }
  return true;
}

}  // namespace opbench
