#pragma once

#include <span>
#include <vector>

#include "judge/judge_output.h"
#include "tensor/tensor.h"

namespace opbench {

/// A recorded call as it is judged; outputs that are not recorded have no elements. What it is made
/// of outlives it.
class CallUnderJudgement {
 public:
  // Of the kernel only its tolerance counts: that of the dtype.
  CallUnderJudgement(const Problem& problem, std::span<const Tensor> inputs,
                     std::span<const Tensor> outputs)
      : call_{problem, *kernels_of(problem.op->name).front(), {}, {}} {
    for (const Tensor& input : inputs) {
      readers_.emplace_back(problem.inputs[call_.inputs.size()], input.data());
      call_.inputs.push_back(input.data());
    }
    for (const Tensor& output : outputs) call_.outputs.push_back(output.data());
  }

  const Problem& problem() const { return call_.problem; }
  std::span<const InputReader> inputs() const { return readers_; }
  const void* output(std::size_t i) const { return call_.outputs[i]; }

  ValueComparison judge(std::size_t output, bool saturates) const {
    CallToJudge call = call_;
    call.saturates = saturates;
    return judge_output(call, output);
  }

  WorstElement worst_unexplained(std::size_t output, double scale) const {
    return opbench::worst_unexplained(call_, output, scale);
  }

  double terms_scale(std::size_t output) const { return scale_of_condition(call_, output); }

 private:
  CallToJudge call_;
  std::vector<InputReader> readers_;
};

/// All elements of a tensor, in logical order.
std::vector<double> values_of(const TensorDesc& desc, const void* storage);

/// What right kernels leave, in logical order.
std::vector<double> expected_values(const CallUnderJudgement& call, std::size_t output);

}  // namespace opbench
