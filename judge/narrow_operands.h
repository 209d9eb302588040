#pragma once

#include <string_view>
#include <vector>

#include "ops/op.h"
#include "tensor/tensor.h"

namespace opbench {

/// What a matrix unit takes of fp32 operands: fp16 (the cube of Ascend 910), TF32 (8 bits of
/// exponent, 10 of mantissa), bf16.
enum class OperandWidth { fp16, tf32, bf16 };

/// "fp16 operands"
std::string_view name(OperandWidth width);

/// True for products of fp32 tensors: convolutions, matrix products and their gradients.
bool takes_products(const Problem& problem);

/// Copies of the inputs with floating values rounded to nearest even, ties to even, as the unit
/// takes them; beyond fp16's range its largest value.
std::vector<Tensor> narrowed_operands(const Problem& problem, const std::vector<Tensor>& inputs,
                                      OperandWidth width);

}  // namespace opbench
