#include "judge/claims.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <span>

#include "tensor/dtype.h"

namespace opbench {
namespace {

// Unit roundoffs: 2^-p of p significant bits. TF32 has the 11 bits of fp16.
constexpr double kFp32 = 0x1p-24, kFp16 = 0x1p-11, kBf16 = 0x1p-8;

/// The kind of operator that a claim is about.
enum class Work { any, sums, functions, steps };

// Products and partial sums are rounded. T is the sum of the magnitudes of n terms. If partial sums
// have random signs or approach f, the root mean square error is at most u (T + sqrt(n) |f|).
Claim sums(std::string_view name, double u, DType held) {
  return {.name = name, .operand = u, .partial = u, .held = held};
}

/// A claim, with the outputs and operators for which it can be made.
struct ClaimRow {
  Claim claim;
  DType output;
  Work work;
  std::vector<DeviceType> devices = {};  ///< empty: those of all, and variants
};

// Products are those of a matrix unit. Steps are the small operators of a composition, each of
// which rounds its result.
const std::vector<ClaimRow>& rows() {
  using enum DeviceType;
  static const std::vector<ClaimRow> all = {
      // Polynomials for exp and log: the logarithm of oneDNN 2.6 has an error of 2^-18 for numbers
      // near 1. Four times 2^-19 exceeds it.
      {{"approximate functions", 0x1p-19}, DType::fp32, Work::functions},
      {{"fp16 steps", kFp16, kFp32, 0, DType::fp16}, DType::fp16, Work::steps},
      {{"bf16 steps", kBf16, kFp32, 0, DType::bf16}, DType::bf16, Work::steps},
      {sums("fp16 sums", kFp16, DType::fp16), DType::fp16, Work::sums, {npu, cuda}},
      {sums("bf16 sums", kBf16, DType::bf16), DType::bf16, Work::sums, {cpu}},
      {{"saturates at 65504", 0, kFp32, 0, DType::fp32, true}, DType::fp16, Work::any, {npu}},
  };
  return all;
}

bool does(const Problem& problem, Work work) {
  const Op& op = *problem.op;
  switch (work) {
    case Work::any:
      return true;
    case Work::sums:
      return op.mixing == Mixing::sums;
    case Work::functions:
      return op.takes_functions;
    case Work::steps:
      break;
  }
  return op.mixing != Mixing::sums && !op.holds_fp32;
}

bool is_made_on(const ClaimRow& row, std::optional<DeviceType> device) {
  if (row.devices.empty()) return true;
  return device && std::find(row.devices.begin(), row.devices.end(), *device) != row.devices.end();
}

// Rounds to 10 bits of mantissa after the point.
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
  const DType dtype = is_half ? DType::fp16 : DType::bf16;
  const double largest = largest_finite(dtype);
  if (is_half && std::abs(value) > largest) return std::copysign(largest, value);
  std::uint16_t bits = 0;
  from_doubles(dtype, &value, 1, &bits);
  to_doubles(dtype, &bits, 1, &value);
  return value;
}

// The claim of a variant that states to round each of its operations.
Claim steps_of_variant(DType dtype, bool saturates) {
  const bool is_half = dtype == DType::fp16;
  const double u = is_half ? kFp16 : kBf16;
  return {.name = is_half ? "fp16 steps" : "bf16 steps",
          .sum = u,
          .held = dtype,
          .saturates = saturates};
}

// Results in fp64 are sums in fp64.
Claim plain(DType output) {
  return output == DType::fp64 ? Claim{.sum = 0x1p-53, .held = DType::fp64} : Claim{};
}

}  // namespace

std::vector<Claim> claims_of(const Problem& problem, std::size_t output, const Maker& maker) {
  const DType dtype = problem.outputs[output].dtype;
  if (maker.operands && !problem.op->context.uses_cube) {
    return {steps_of_variant(*maker.operands, maker.saturates)};
  }
  if (maker.operands && size_of(*maker.operands) < size_of(dtype)) {
    Claim claim = *maker.operands == DType::fp16 ? fp16_operands()
                                                 : Claim{.name = "bf16 operands", .operand = kBf16};
    claim.saturates = maker.saturates;
    return {claim};
  }
  std::vector<Claim> claims = {plain(dtype)};
  for (const ClaimRow& row : rows()) {
    const bool may =
        row.output == dtype && does(problem, row.work) && is_made_on(row, maker.device);
    if (may) claims.push_back(row.claim);
  }
  for (Claim& claim : claims) claim.saturates |= maker.saturates && dtype == DType::fp16;
  return claims;
}

Claim fp16_operands() { return {.name = "fp16 operands", .operand = kFp16}; }

std::vector<OperandClaim> operand_claims_of(const Problem& problem, const Maker& maker) {
  const bool may_be = problem.op->context.uses_cube && problem.inputs[0].dtype == DType::fp32 &&
                      maker.device && *maker.device != DeviceType::cpu;
  if (!may_be) return {};
  return {{"fp16 operands", OperandWidth::fp16},
          {"TF32 operands", OperandWidth::tf32},
          {"bf16 operands", OperandWidth::bf16}};
}

std::vector<Tensor> narrowed_operands(std::span<const InputReader> inputs, const Op& op,
                                      OperandWidth width) {
  constexpr std::size_t kOperands = 2;  // what is added to their product is so in fp32
  const std::size_t first = op.context.first_operand;
  std::vector<Tensor> copies;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const TensorDesc& desc = inputs[i].desc();
    Tensor copy(desc);
    std::memcpy(copy.data(), inputs[i].storage(), desc.bytes());
    if (i >= first && i < first + kOperands && desc.dtype == DType::fp32) {
      const std::span values(copy.as<float>(), static_cast<std::size_t>(desc.storage_elements()));
      std::transform(values.begin(), values.end(), values.begin(),
                     [&](float value) { return static_cast<float>(narrowed(value, width)); });
    }
    copies.push_back(std::move(copy));
  }
  return copies;
}

}  // namespace opbench
