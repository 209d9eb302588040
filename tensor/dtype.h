#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace opbench {

/// Element types, spelled in files and on the command line as `name` prints them.
enum class DType : std::uint8_t {
  fp64,
  fp32,
  fp16,
  bf16,
  int64,
  int32,
  int16,
  int8,
  uint8,
  boolean,
  fp8_e4m3fn,
  fp8_e5m2,
  hif8,  ///< HiFloat8 of Ascend
  e8m0,  ///< powers of two: scales of MX formats
  int4,  ///< -8 to 7, one byte for each value; devices pack two in a byte
};

inline constexpr std::array kAllDTypes = {
    DType::fp64,       DType::fp32,     DType::fp16, DType::bf16,  DType::int64,
    DType::int32,      DType::int16,    DType::int8, DType::uint8, DType::boolean,
    DType::fp8_e4m3fn, DType::fp8_e5m2, DType::hif8, DType::e8m0,  DType::int4};

/// Bytes per element.
std::size_t size_of(DType dtype);

/// The address of element `index` of dense elements of `dtype`.
const void* at(const void* elements, DType dtype, std::int64_t index);
void* at(void* elements, DType dtype, std::int64_t index);

/// "fp64" ... "uint8", "bool", "fp8_e4m3fn" ... "int4".
std::string_view name(DType dtype);

/// The dtype that `text` spells: the name here ("fp16") or a usual one ("float16", "half",
/// "DT_FLOAT16", "FLOAT16", "torch.float16"). Errors: throws Error that lists what is allowed.
DType parse_dtype(std::string_view text);

/// True for fp64, fp32, fp16, bf16, and for the floating dtypes of one byte.
bool is_floating(DType dtype);

/// True for fp8_e4m3fn, fp8_e5m2, hif8 and e8m0 (tensor/byte_float.h).
bool is_byte_float(DType dtype);

/// Behaviour of a conversion to fp16 at the end of the range.
///   ieee:     overflow gives +-Inf, NaN stays NaN (Ascend 910B and later).
///   saturate: overflow and +-Inf give +-65504, NaN gives +0 (Ascend 910A).
enum class HalfMode { ieee, saturate };

/// The largest finite value of a floating dtype; 0 for others.
double largest_finite(DType dtype);

/// The smallest positive normal number of a floating dtype; 0 for others. For hif8 it is the
/// smallest number with an exponent field, 2^-15.
double smallest_normal(DType dtype);

/// Distance of two values of a floating dtype in units in the last place: the number of
/// representable steps from one to the other; 0 for +0 and -0. For integer dtypes the absolute
/// difference. Both must be values of `dtype`, not NaN.
double ulp_distance(DType dtype, double a, double b);

/// The distance of the numbers next to 0, and 0 for integers. e8m0 has no 0: its smallest number.
double smallest_unit(DType dtype);

/// Distance from 1 to the next number of a floating dtype; 0 for integers and bool.
double epsilon_of(DType dtype);

/// Calls `body` with an unsigned integer of `bytes` bytes (1, 2, 4, else 8). Code that moves
/// elements needs only the size of their type.
template <class Body>
void visit_width(std::size_t bytes, Body&& body) {
  switch (bytes) {
    case 1:
      return body(std::uint8_t{});
    case 2:
      return body(std::uint16_t{});
    case 4:
      return body(std::uint32_t{});
    default:
      return body(std::uint64_t{});
  }
}

}  // namespace opbench
