#include "judge/ulp.h"

#include <bit>
#include <cmath>
#include <cstdlib>

#include "tensor/half.h"

namespace opbench {
namespace {

// Sign and magnitude bits as a whole number that grows with the value.
template <class Bits>
double ordinal(Bits bits) {
  constexpr Bits kSign = Bits(Bits{1} << (8 * sizeof(Bits) - 1));
  const auto magnitude = static_cast<double>(static_cast<Bits>(bits & ~kSign));
  return (bits & kSign) != 0 ? -magnitude : magnitude;
}

// The numbers of fp64 are too many for a double to count: neighbours would be 0 apart.
double distance_fp64(double a, double b) {
  constexpr std::uint64_t kSign = std::uint64_t{1} << 63;
  const auto a_bits = std::bit_cast<std::uint64_t>(a), b_bits = std::bit_cast<std::uint64_t>(b);
  const std::uint64_t x = a_bits & ~kSign, y = b_bits & ~kSign;
  const bool is_same_side = ((a_bits ^ b_bits) & kSign) == 0;
  return static_cast<double>(is_same_side ? (x > y ? x - y : y - x) : x + y);
}

double ordinal_of(DType dtype, double value) {
  switch (dtype) {
    case DType::fp32:
      return ordinal(std::bit_cast<std::uint32_t>(static_cast<float>(value)));
    case DType::fp16:
      return ordinal(round_to_half(value).x);
    case DType::bf16:
      return ordinal(round_to_bfloat16(value).value);
    default:
      return value;
  }
}

}  // namespace

double ulp_distance(DType dtype, double a, double b) {
  if (dtype == DType::fp64) return distance_fp64(a, b);
  return std::fabs(ordinal_of(dtype, a) - ordinal_of(dtype, b));
}

double epsilon_of(DType dtype) {
  switch (dtype) {
    case DType::fp64:
      return 0x1p-52;
    case DType::fp32:
      return 0x1p-23;
    case DType::fp16:
      return 0x1p-10;
    case DType::bf16:
      return 0x1p-7;
    default:
      return 0;
  }
}

}  // namespace opbench
