#include "ops/term_count.h"

#include <algorithm>
#include <cmath>

#include "tensor/dtype.h"

namespace opbench {

double terms_of_element(const Problem& problem, std::size_t output) {
  const auto count = [](const TensorDesc& desc) {
    return double(std::max<std::int64_t>(1, desc.elements()));
  };
  const double operations = problem.op->traffic(problem).operations;
  // A quantiser computes its scales with the operations of a step: a maximum rounds nothing.
  const std::size_t counted = problem.op->quantises ? 0 : output;
  double terms = std::max(1.0, operations / count(problem.outputs[counted]));
  if (problem.op->mixing != Mixing::other || problem.op->quantises) return terms;
  for (const TensorDesc& other : problem.outputs)
    terms = std::max(terms, operations / count(other));
  for (const TensorDesc& input : problem.inputs) {
    for (const std::int64_t extent : input.shape) terms = std::max(terms, double(extent));
  }
  return terms;
}

double weight_of_rounded_operands(const Problem& problem, std::size_t output) {
  constexpr double kFp32 = 0x1p-24;
  const double u = epsilon_of(problem.inputs[0].dtype) / 2;
  return u <= kFp32 ? 0 : u / (kFp32 * std::sqrt(terms_of_element(problem, output)));
}

}  // namespace opbench
