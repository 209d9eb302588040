#include "harness/run/judge_node.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <vector>

#include "compare/standard/standards.h"
#include "harness/run/saturate.h"
#include "tensor/parallel.h"

namespace opbench {
namespace {

/// One block of an output beside its golden values.
using MeasureBlock =
    std::function<Stats(ElementRange range, const TensorDesc& desc, const void* storage)>;

// Sum over the elements, in the order of blocks.
template <class OfBlock>
double sum_over(const TensorDesc& desc, OfBlock of_block) {
  std::vector<double> parts(static_cast<std::size_t>(block_count(desc)));
  parallel_blocks(std::ssize(parts), [&](std::int64_t i) {
    parts[static_cast<std::size_t>(i)] = of_block(block(desc, i));
  });
  double sum = 0;
  for (const double part : parts) sum += part;
  return sum;
}

// Root mean square of the finite values.
double magnitude(const TensorDesc& desc, const void* storage) {
  if (desc.elements() == 0) return 0;
  const double sum = sum_over(desc, [&](ElementRange range) {
    thread_local std::vector<double> values;
    values.resize(static_cast<std::size_t>(range.count));
    read_doubles(desc, storage, range, values);
    double squares = 0;
    for (const double value : values) squares += std::isfinite(value) ? value * value : 0;
    return squares;
  });
  return std::sqrt(sum / static_cast<double>(desc.elements()));
}

// What is left where terms cancel is their rounding. Sums are held to what their terms come to at
// random; elsewhere the input counts from 2^-10 on.
double rounding_scale(const NodeToJudge& what, const TensorDesc& output) {
  const Problem& problem = what.node.problem;
  if (problem.op->mixes_elements) return random_sum(what.node, what.storage, output);
  for (std::size_t i = 0; i < what.node.inputs.size(); ++i) {
    const TensorDesc& desc = problem.inputs[i];
    if (!is_floating(desc.dtype)) continue;
    const double input = magnitude(desc, what.storage(what.node.inputs[i]));
    return input * 0x1p-10;
  }
  return 0;
}

Tolerance tolerance_of(const NodeToJudge& what, std::size_t output) {
  const Problem& problem = what.node.problem;
  const TensorDesc& desc = problem.outputs[output];
  if (problem.op->accuracy != AccuracyClass::rounded) return {};
  const DType dtype = desc.dtype;
  Tolerance tolerance =
      mixed_tolerance(is_floating(dtype) ? what.kernel.judged_as.value_or(dtype) : dtype);
  if (!what.by_magnitude) return tolerance;
  const double scale = std::max(magnitude(desc, what.storage(what.node.outputs[output])),
                                rounding_scale(what, desc));
  // Small fp16 values have no more digits than their last place.
  const double last_place = desc.dtype == DType::fp16 ? 0x1p-24 : 0;
  tolerance.atol = std::max(tolerance.atol * scale, last_place);
  tolerance.limit = std::max(tolerance.limit * scale, last_place);
  return tolerance;
}

MeasureBlock measure_rounded(const NodeToJudge& what, std::span<const InputReader> inputs,
                             std::size_t output, const Tolerance& tolerance) {
  const Problem& problem = what.node.problem;
  const bool saturates = what.saturates && problem.outputs[output].dtype == DType::fp16;
  return [saturates, output, tolerance, reference = problem.op->reference(inputs, problem.attrs)](
             ElementRange range, const TensorDesc& desc, const void* storage) {
    thread_local std::vector<double> actual, expected;
    actual.resize(static_cast<std::size_t>(range.count));
    expected.resize(actual.size());
    reference(output, range, expected);
    if (saturates)
      std::transform(expected.begin(), expected.end(), expected.begin(), saturated_fp16);
    read_doubles(desc, storage, range, actual);
    return measure(desc.dtype, tolerance, range.first, actual, expected);
  };
}

MeasureBlock measure_exact(const NodeToJudge& what, std::span<const InputReader> inputs,
                           std::size_t output) {
  const Op& op = *what.node.problem.op;
  const bool saturates = what.saturates && what.node.problem.outputs[output].dtype == DType::fp16;
  return [saturates, any_nan = op.accuracy == AccuracyClass::exact_value, output,
          reference = op.exact_reference(inputs, what.node.problem.attrs)](
             ElementRange range, const TensorDesc& desc, const void* storage) {
    thread_local std::vector<std::byte> actual, expected;
    actual.resize(static_cast<std::size_t>(range.count) * size_of(desc.dtype));
    expected.resize(actual.size());
    reference(output, range, expected.data());
    if (saturates) saturate_fp16(expected.data(), range.count);
    read_elements(desc, storage, range, actual.data());
    return measure_bits(desc.dtype, any_nan, range, actual.data(), expected.data());
  };
}

}  // namespace

double random_sum(const Node& node, const TensorStorage& storage, const TensorDesc& output) {
  for (std::size_t i = 0; i < node.inputs.size(); ++i) {
    const TensorDesc& desc = node.problem.inputs[i];
    if (!is_floating(desc.dtype)) continue;
    const double terms = static_cast<double>(desc.elements()) /
                         static_cast<double>(std::max<std::int64_t>(1, output.elements()));
    return magnitude(desc, storage(node.inputs[i])) * std::sqrt(std::max(1.0, terms));
  }
  return 0;
}

OutputJudgement judge_output(const NodeToJudge& what, std::size_t output) {
  const Problem& problem = what.node.problem;
  std::vector<InputReader> inputs;
  for (std::size_t i = 0; i < what.node.inputs.size(); ++i) {
    inputs.emplace_back(problem.inputs[i], what.storage(what.node.inputs[i]));
  }
  const Tolerance tolerance = tolerance_of(what, output);
  const MeasureBlock measure = problem.op->exact_reference != nullptr
                                   ? measure_exact(what, inputs, output)
                                   : measure_rounded(what, inputs, output, tolerance);
  const TensorDesc& desc = problem.outputs[output];
  const void* storage = what.storage(what.node.outputs[output]);
  std::vector<Stats> parts(static_cast<std::size_t>(block_count(desc)));
  parallel_blocks(std::ssize(parts), [&](std::int64_t i) {
    parts[static_cast<std::size_t>(i)] = measure(block(desc, i), desc, storage);
  });
  OutputJudgement result;
  for (const Stats& part : parts) result.stats.merge(part);
  result.judgement = judge(result.stats, tolerance);
  return result;
}

}  // namespace opbench
