#include "kernels/simd/cube.h"

#include <fmt/format.h>

#include <algorithm>

#include "tensor/half.h"

namespace opbench {

void load_operands(DType dtype, const void* from, std::int64_t count, float* to) {
  if (dtype == DType::fp16) {
    return widen(static_cast<const half*>(from), to, static_cast<std::size_t>(count));
  }
  constexpr std::int64_t kPart = 256;  // elements; 512 bytes on the stack
  half narrowed[kPart];
  for (std::int64_t i = 0; i < count; i += kPart) {
    const auto part = static_cast<std::size_t>(std::min(kPart, count - i));
    narrow(static_cast<const float*>(from) + i, narrowed, part, HalfMode::saturate);
    widen(narrowed, to + i, part);
  }
}

void load_floats(DType dtype, const void* from, std::int64_t count, float* to) {
  const auto elements = static_cast<std::size_t>(count);
  if (dtype == DType::fp16) return widen(static_cast<const half*>(from), to, elements);
  if (dtype == DType::bf16) return widen(static_cast<const bfloat16*>(from), to, elements);
  std::copy_n(static_cast<const float*>(from), elements, to);
}

void store_floats(DType dtype, const float* from, std::int64_t count, void* to) {
  const auto elements = static_cast<std::size_t>(count);
  if (dtype == DType::fp16) return narrow(from, static_cast<half*>(to), elements);
  if (dtype == DType::bf16) return narrow(from, static_cast<bfloat16*>(to), elements);
  std::copy_n(from, elements, static_cast<float*>(to));
}

std::string cube_refusal(const Problem& problem) {
  for (const auto* tensors : {&problem.inputs, &problem.outputs}) {
    for (const TensorDesc& tensor : *tensors) {
      if (tensor.dtype == DType::bf16) {
        return "the cube unit of Ascend 910 takes fp16, and fp32 narrowed to it, not bf16";
      }
      if (is_private(tensor.format) && tensor.c0 != kCube) {
        return fmt::format("the cube unit takes blocks of 16, found {}", tensor.c0);
      }
    }
  }
  return {};
}

}  // namespace opbench
