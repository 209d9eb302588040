#include "ops/promotion.h"

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

}  // namespace opbench
