#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "tensor/dtype.h"

namespace opbench {

/// The upper half of the bits of an fp32 number, with the last bit set if the lower half is not 0
/// ("round to odd"). Rounding it to 6 bits or fewer equals rounding the number.
inline std::size_t upper_half(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  return bits >> 16 | ((bits & 0xFFFF) != 0 ? 1 : 0);
}

/// A floating dtype of one byte, as tables. Rounding is to nearest and does not saturate. Sources:
///   fp8_e4m3fn, fp8_e5m2: Open Compute Project 2023, "OCP 8-bit Floating Point Specification
///     (OFP8)". Ties go to even. Overflow is NaN in fp8_e4m3fn, which has no Inf.
///   hif8: Luo et al. 2024, "Ascend HiFloat8 Format for Deep Learning", arXiv:2409.16626. Ties go
///     away from zero. There is no -0 and one NaN.
///   e8m0: Open Compute Project 2023, "OCP Microscaling Formats (MX) Specification", and
///     c10/util/Float8_e8m0fnu.h. Ties go up, the sign is dropped, 0 gives 2^-127.
struct ByteFloat {
  std::array<float, 256> values;            ///< by code
  std::array<std::uint8_t, 1 << 16> codes;  ///< by `upper_half`
  std::vector<float> magnitudes;            ///< the finite ones, ascending

  std::uint8_t code(float value) const { return codes[upper_half(value)]; }
};

/// The tables of a dtype for which is_byte_float holds.
const ByteFloat& byte_float(DType dtype);

/// Elements of a floating dtype of one or two bytes as fp32.
void widen(DType dtype, const void* from, float* to, std::size_t count);

}  // namespace opbench
