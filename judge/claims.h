#pragma once

#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "dump/dump_types.h"
#include "ops/op.h"
#include "tensor/tensor.h"

namespace opbench {

/// The arithmetic that a kernel or a device states or shows, as unit roundoffs.
struct Claim {
  /// "fp16 operands"; empty: only sums round intermediate results, in fp32.
  std::string_view name = {};
  double operand = 0;        ///< of operands and intermediate results
  double sum = 0x1p-24;      ///< of partial sums that may amount to all terms
  double partial = 0;        ///< of partial sums with terms of random signs
  DType held = DType::fp32;  ///< beyond whose range intermediate results overflow
  bool saturates = false;    ///< fp16 has 65504 in place of Inf, and 0 in place of NaN
};

/// The dtype to which a matrix unit rounds fp32 operands: fp16 (the cube of Ascend 910), TF32 (8
/// bits of exponent, 10 of mantissa), bf16. It rounds to nearest, ties to even. Values beyond
/// fp16's range become its largest value.
enum class OperandWidth { fp16, tf32, bf16 };

/// A claim about the operands of a product: the reference uses the narrowed operands.
struct OperandClaim {
  std::string_view name;  ///< "fp16 operands"
  OperandWidth width;
};

/// The device or variant that made an output, as far as its arithmetic is known.
struct Maker {
  std::optional<DeviceType> device = {};  ///< none: a variant
  /// The dtype to which a variant rounds operands of products, or each step of another operator.
  std::optional<DType> operands = {};
  bool saturates = false;  ///< a variant on a device that does
};

/// The claims that are tried for a rounded output, in this order.
std::vector<Claim> claims_of(const Problem& problem, std::size_t output, const Maker& maker);

/// The claim of the cube: it rounds operands to fp16 and sums in fp32.
Claim fp16_operands();

/// The claims about operands: for products in fp32 on a device.
std::vector<OperandClaim> operand_claims_of(const Problem& problem, const Maker& maker);

/// Copies of the inputs with the operands of the product narrowed as in the unit.
std::vector<Tensor> narrowed_operands(std::span<const InputReader> inputs, const Op& op,
                                      OperandWidth width);

}  // namespace opbench
