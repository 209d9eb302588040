#include "ops/elementwise.h"

#include <fmt/format.h>

#include "tensor/error.h"

namespace opbench {

DType promoted(DType a, DType b) {
  if (a == b) return a;
  if (size_of(a) == size_of(b)) return DType::fp32;
  return size_of(a) > size_of(b) ? a : b;
}

DType promoted(std::span<const TensorDesc> inputs) {
  DType dtype = inputs.front().dtype;
  for (const TensorDesc& input : inputs) dtype = promoted(dtype, input.dtype);
  return dtype;
}

bool has_mixed_dtypes(const Op& op, std::span<const TensorDesc> inputs) {
  const TensorDesc* first = nullptr;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    if (op.input(i).has_own_dtype()) continue;
    if (first == nullptr) first = &inputs[i];
    if (inputs[i].dtype != first->dtype) return true;
  }
  return false;
}

std::vector<TensorDesc> infer_elementwise(std::string_view op_name,
                                          std::span<const TensorDesc> inputs) {
  for (std::size_t i = 1; i < inputs.size(); ++i) {
    if (inputs[i] != inputs[0]) {
      throw Error(
          fmt::format("{}: inputs 0 and {} must be alike, found {} and {}; "
                      "nothing is broadcast",
                      op_name, i, to_string(inputs[0]), to_string(inputs[i])));
    }
  }
  return {inputs[0]};
}

Traffic elementwise_traffic(const Problem& problem, double operations_per_element) {
  Traffic traffic;
  for (const TensorDesc& input : problem.inputs) traffic.bytes_read += double(input.bytes());
  traffic.bytes_written = double(problem.outputs[0].bytes());
  traffic.operations = operations_per_element * double(problem.outputs[0].elements());
  return traffic;
}

}  // namespace opbench
