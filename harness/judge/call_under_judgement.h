#pragma once

#include <span>
#include <vector>

#include "harness/judge/judge_call.h"
#include "harness/run/judge_node.h"

namespace opbench {

/// A call as the graph of one node, whose tensors are its inputs, then its outputs.
class CallUnderJudgement {
 public:
  CallUnderJudgement(const LoadedCall& loaded, std::span<const Tensor> inputs)
      : loaded_(loaded), kernel_(*kernels_of(problem().op->name).front()) {
    for (const Tensor& input : inputs) storage_.push_back(input.data());
    for (const Tensor& output : loaded.outputs) storage_.push_back(output.data());
    node_.problem = problem();
    for (std::size_t i = 0; i < inputs.size(); ++i) node_.inputs.push_back(i);
    for (std::size_t i = 0; i < loaded.outputs.size(); ++i)
      node_.outputs.push_back(inputs.size() + i);
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      readers_.emplace_back(problem().inputs[i], storage_[i]);
    }
  }

  const Problem& problem() const { return loaded_.call->problem; }
  std::span<const InputReader> inputs() const { return readers_; }
  const void* output(std::size_t i) const { return storage_[node_.outputs[i]]; }

  ValueComparison judge(std::size_t output, bool saturates) const {
    const TensorStorage storage = storage_of();
    return judge_output({node_, kernel_, storage, saturates}, output);
  }

  WorstElement worst_unexplained(std::size_t output, double scale) const {
    const TensorStorage storage = storage_of();
    return opbench::worst_unexplained({node_, kernel_, storage, false}, output, scale);
  }

  double terms_scale(std::size_t output) const {
    const TensorStorage storage = storage_of();
    return scale_of_condition({node_, kernel_, storage, false}, output);
  }

 private:
  TensorStorage storage_of() const {
    return [this](std::size_t tensor) { return storage_[tensor]; };
  }

  const LoadedCall& loaded_;
  const Kernel& kernel_;  // of which only its tolerance counts: that of the dtype
  Node node_;
  std::vector<void*> storage_;
  std::vector<InputReader> readers_;
};

/// All elements of a tensor, in logical order.
std::vector<double> values_of(const TensorDesc& desc, const void* storage);

/// What right kernels leave, in logical order.
std::vector<double> expected_values(const CallUnderJudgement& call, std::size_t output);

}  // namespace opbench
