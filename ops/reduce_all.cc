#include "ops/reduce_all.h"

#include <fmt/format.h>

#include "tensor/error.h"

namespace opbench {

double sum_of(const InputReader& x) {
  const TensorDesc& desc = x.desc();
  std::vector<double> values(static_cast<std::size_t>(largest_block(desc)));
  double sum = 0;
  for (std::int64_t i = 0; i < block_count(desc); ++i) {
    const ElementRange range = block(desc, i);
    const std::span<double> part(values.data(), static_cast<std::size_t>(range.count));
    x.read(range, part);
    double block_sum = 0;
    for (const double value : part) block_sum += value;
    sum += block_sum;
  }
  return sum;
}

Reference constant_reference(double value) {
  return [value](std::size_t, ElementRange, std::span<double> to) {
    for (double& element : to) element = value;
  };
}

std::vector<TensorDesc> infer_scalar(std::span<const TensorDesc> inputs, const Attrs&) {
  return {describe(inputs[0].dtype, {})};
}

std::vector<TensorDesc> infer_expanded(std::string_view op, std::span<const TensorDesc> inputs) {
  if (!inputs[0].shape.empty()) {
    throw Error(fmt::format("{}: input 'grad_output' must be a scalar, found shape {}", op,
                            to_string(inputs[0].shape)));
  }
  if (inputs[0].dtype != inputs[1].dtype) {
    throw Error(fmt::format("{}: inputs must have one dtype, found {} and {}", op,
                            name(inputs[0].dtype), name(inputs[1].dtype)));
  }
  return {inputs[1]};
}

Traffic expanded_traffic(const Problem& problem) {
  return {.bytes_read = double(problem.inputs[0].bytes()),
          .bytes_written = double(problem.outputs[0].bytes()),
          .operations = 1};
}

std::vector<Dims> scalar_and_tensor(const Dims& shape, const Attrs&) { return {{}, shape}; }

}  // namespace opbench
