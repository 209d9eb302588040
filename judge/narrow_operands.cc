#include "judge/narrow_operands.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <span>

namespace opbench {
namespace {

constexpr double kLargestHalf = 65504;

// To 10 bits behind the point of the mantissa.
float rounded_to_tf32(float value) {
  if (!std::isfinite(value)) return value;
  constexpr std::uint32_t kDropped = 13, kHalf = 1u << (kDropped - 1);
  auto bits = std::bit_cast<std::uint32_t>(value);
  bits += kHalf - 1 + ((bits >> kDropped) & 1);
  return std::bit_cast<float>(bits & ~((1u << kDropped) - 1));
}

double narrowed(double value, OperandWidth width) {
  if (width == OperandWidth::tf32) return rounded_to_tf32(static_cast<float>(value));
  const bool is_half = width == OperandWidth::fp16;
  if (is_half && std::abs(value) > kLargestHalf) return std::copysign(kLargestHalf, value);
  const DType dtype = is_half ? DType::fp16 : DType::bf16;
  std::uint16_t bits = 0;
  from_doubles(dtype, &value, 1, &bits);
  to_doubles(dtype, &bits, 1, &value);
  return value;
}

}  // namespace

std::string_view name(OperandWidth width) {
  switch (width) {
    case OperandWidth::fp16:
      return "fp16 operands";
    case OperandWidth::tf32:
      return "TF32 operands";
    case OperandWidth::bf16:
      break;
  }
  return "bf16 operands";
}

bool takes_products(const Problem& problem) {
  return problem.inputs[0].dtype == DType::fp32 && problem.op->context.uses_cube;
}

std::vector<Tensor> narrowed_operands(const Problem& problem, const std::vector<Tensor>& inputs,
                                      OperandWidth width) {
  constexpr std::size_t kOperands = 2;  // what is added to their product is so in fp32
  const std::size_t first = problem.op->name == "addmm" ? 1 : 0;
  std::vector<Tensor> copies;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    Tensor copy(inputs[i].desc);
    std::memcpy(copy.data(), inputs[i].data(), inputs[i].desc.bytes());
    if (i >= first && i < first + kOperands && problem.inputs[i].dtype == DType::fp32) {
      const std::span values(copy.as<float>(),
                             static_cast<std::size_t>(copy.desc.storage_elements()));
      std::transform(values.begin(), values.end(), values.begin(),
                     [&](float value) { return static_cast<float>(narrowed(value, width)); });
    }
    copies.push_back(std::move(copy));
  }
  return copies;
}

}  // namespace opbench
