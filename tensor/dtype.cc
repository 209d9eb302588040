#include "tensor/dtype.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdlib>
#include <initializer_list>
#include <limits>
#include <string>

#include "tensor/byte_float.h"
#include "tensor/error.h"
#include "tensor/half.h"

namespace opbench {
namespace {

struct Spelling {
  std::size_t bytes;
  std::string_view name;
  std::initializer_list<std::string_view> others;  // lower case, without prefix
};

// Indexed by DType. Sources of `others`: numpy, PyTorch, torch_npu, aclDataType and ge::DataType.
const std::array<Spelling, kAllDTypes.size()> kSpellings = {{
    {8, "fp64", {"float64", "double"}},
    {4, "fp32", {"float32", "float"}},
    {2, "fp16", {"float16", "half"}},
    {2, "bf16", {"bfloat16"}},
    {8, "int64", {"long"}},
    {4, "int32", {"int"}},
    {2, "int16", {"short"}},
    {1, "int8", {}},
    {1, "uint8", {"byte"}},
    {1, "bool", {"boolean"}},
    {1, "fp8_e4m3fn", {"float8_e4m3fn"}},
    {1, "fp8_e5m2", {"float8_e5m2"}},
    {1, "hif8", {"hifloat8"}},
    {1, "e8m0", {"float8_e8m0", "float8_e8m0fnu"}},
    {1, "int4", {}},
}};

/// Limits of a floating dtype, all 0 for others.
struct Limits {
  double largest, normal, unit, epsilon;
};

// Indexed by DType.
constexpr std::array<Limits, kAllDTypes.size()> kLimits = {{
    {std::numeric_limits<double>::max(), 0x1p-1022, 0x1p-1074, 0x1p-52},  // fp64
    {0x1.FFFFFEp127, 0x1p-126, 0x1p-149, 0x1p-23},                        // fp32
    {65504, 0x1p-14, 0x1p-24, 0x1p-10},                                   // fp16
    {0x1.FEp127, 0x1p-126, 0x1p-133, 0x1p-7},                             // bf16
    {},
    {},
    {},
    {},
    {},
    {},
    {448, 0x1p-6, 0x1p-9, 0x1p-3},      // fp8_e4m3fn
    {57344, 0x1p-14, 0x1p-16, 0x1p-2},  // fp8_e5m2
    {32768, 0x1p-15, 0x1p-22, 0x1p-3},  // hif8
    {0x1p127, 0x1p-127, 0x1p-127, 1},   // e8m0
    {},
}};

const Limits& limits(DType dtype) { return kLimits[static_cast<std::size_t>(dtype)]; }

const Spelling& spelling(DType dtype) { return kSpellings[static_cast<std::size_t>(dtype)]; }

std::string without_prefix(std::string_view text) {
  std::string lower(text);
  for (char& c : lower) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  for (const std::string_view prefix : {"torch_npu.", "torch.", "numpy.", "np.", "dt_", "acl_"}) {
    if (lower.starts_with(prefix)) return lower.substr(prefix.size());
  }
  return lower;
}

std::string allowed() {
  std::string names;
  for (const Spelling& s : kSpellings) {
    names += names.empty() ? "" : ", ";
    names += s.name;
    for (const std::string_view other : s.others) names += fmt::format("|{}", other);
  }
  return names;
}

// Sign and magnitude bits as a whole number that grows with the value.
template <class Bits>
double ordinal(Bits bits) {
  constexpr Bits kSign = Bits(Bits{1} << (8 * sizeof(Bits) - 1));
  const auto magnitude = static_cast<double>(static_cast<Bits>(bits & ~kSign));
  return (bits & kSign) != 0 ? -magnitude : magnitude;
}

// Computed as integers: a double cannot count the numbers of fp64, so neighbours would be 0 apart.
double distance_fp64(double a, double b) {
  constexpr std::uint64_t kSign = std::uint64_t{1} << 63;
  const auto a_bits = std::bit_cast<std::uint64_t>(a), b_bits = std::bit_cast<std::uint64_t>(b);
  const std::uint64_t x = a_bits & ~kSign, y = b_bits & ~kSign;
  const bool is_same_side = ((a_bits ^ b_bits) & kSign) == 0;
  return static_cast<double>(is_same_side ? (x > y ? x - y : y - x) : x + y);
}

// The number of positive values up to `value`, with its sign: codes of hif8 are in another order.
double ordinal_among(const std::vector<float>& magnitudes, double value) {
  const auto found = std::lower_bound(magnitudes.begin(), magnitudes.end(), std::fabs(value));
  return std::copysign(static_cast<double>(found - magnitudes.begin()), value);
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
      if (is_byte_float(dtype)) return ordinal_among(byte_float(dtype).magnitudes, value);
      return value;
  }
}

}  // namespace

std::size_t size_of(DType dtype) { return spelling(dtype).bytes; }

const void* at(const void* elements, DType dtype, std::int64_t index) {
  return static_cast<const std::byte*>(elements) + static_cast<std::size_t>(index) * size_of(dtype);
}

void* at(void* elements, DType dtype, std::int64_t index) {
  return static_cast<std::byte*>(elements) + static_cast<std::size_t>(index) * size_of(dtype);
}

std::string_view name(DType dtype) { return spelling(dtype).name; }

DType parse_dtype(std::string_view text) {
  const std::string wanted = without_prefix(text);
  for (const DType dtype : kAllDTypes) {
    const Spelling& s = spelling(dtype);
    if (wanted == s.name || std::count(s.others.begin(), s.others.end(), wanted) > 0) return dtype;
  }
  throw Error(
      fmt::format("dtype '{}' is unknown; allowed, in any case and with torch., numpy., DT_ or "
                  "ACL_ in front: {}",
                  text, allowed()));
}

bool is_floating(DType dtype) {
  return dtype == DType::fp64 || dtype == DType::fp32 || dtype == DType::fp16 ||
         dtype == DType::bf16 || is_byte_float(dtype);
}

bool is_byte_float(DType dtype) {
  return dtype == DType::fp8_e4m3fn || dtype == DType::fp8_e5m2 || dtype == DType::hif8 ||
         dtype == DType::e8m0;
}

double largest_finite(DType dtype) { return limits(dtype).largest; }
double smallest_normal(DType dtype) { return limits(dtype).normal; }
double smallest_unit(DType dtype) { return limits(dtype).unit; }
double epsilon_of(DType dtype) { return limits(dtype).epsilon; }

double ulp_distance(DType dtype, double a, double b) {
  if (dtype == DType::fp64) return distance_fp64(a, b);
  return std::fabs(ordinal_of(dtype, a) - ordinal_of(dtype, b));
}

}  // namespace opbench
