#include "tensor/byte_float.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "tensor/half.h"

namespace opbench {
namespace {

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr float kInf = std::numeric_limits<float>::infinity();
constexpr std::uint8_t kSign = 0x80;

enum class Ties { to_even, away };

/// The properties of a dtype that its values do not show.
struct Rules {
  float (*magnitude)(int code);  ///< of the codes below 128; below 256 without a sign
  int codes;                     ///< how many of them
  Ties ties;
  double beyond;  ///< would be the number after the largest one
  std::uint8_t overflow, nan;
  bool has_sign, has_signed_nan, has_negative_zero;
};

float scaled(int significand, int exponent) {
  return std::ldexp(static_cast<float>(significand), exponent);
}

// A number of `bits` bits of significand after the point, as in IEEE 754.
float ieee(int code, int bits, int bias) {
  const int exponent = code >> bits, fraction = code & ((1 << bits) - 1);
  if (exponent == 0) return scaled(fraction, 1 - bias - bits);
  return scaled(fraction + (1 << bits), exponent - bias - bits);
}

float e4m3fn(int code) { return code == 0x7F ? kNan : ieee(code, 3, 7); }
float e5m2(int code) { return code > 0x7C ? kNan : code == 0x7C ? kInf : ieee(code, 2, 15); }
float e8m0(int code) { return code == 0xFF ? kNan : scaled(1, code - 127); }

// The first bits ("dot") state the bits of the exponent: its sign and its magnitude without the
// leading 1. The significand has the rest.
float hif8(int code) {
  if (code == 0x6F) return kInf;
  if (code < 8) return code == 0 ? 0 : scaled(1, code - 23);
  if (code < 16) return scaled(code, -3);  // exponent 0
  const int dot_bits = code < 32 ? 3 : 2;
  const int exponent_bits = code < 32 ? 1 : (code >> 5) + 1;
  const int fraction_bits = 7 - dot_bits - exponent_bits;
  const int fraction = code & ((1 << fraction_bits) - 1);
  const int field = code >> fraction_bits & ((1 << exponent_bits) - 1);
  const int leading = 1 << (exponent_bits - 1);
  const int magnitude = leading | (field & (leading - 1));
  const int exponent = (field & leading) != 0 ? -magnitude : magnitude;
  return scaled(fraction + (1 << fraction_bits), exponent - fraction_bits);
}

Rules rules_of(DType dtype) {
  switch (dtype) {
    case DType::fp8_e4m3fn:
      return {e4m3fn, 128, Ties::to_even, 480, 0x7F, 0x7F, true, true, true};
    case DType::fp8_e5m2:
      return {e5m2, 128, Ties::to_even, 65536, 0x7C, 0x7E, true, true, true};
    case DType::hif8:
      return {hif8, 128, Ties::away, 49152, 0x6F, 0x80, true, false, false};
    default:
      return {e8m0, 256, Ties::away, 0x1p128, 0xFF, 0xFF, false, false, true};
  }
}

/// A finite magnitude and its code.
struct Entry {
  double value;
  std::uint8_t code;
};

// With the number after the largest one, which overflows.
std::vector<Entry> ascending(const Rules& rules) {
  std::vector<Entry> entries;
  for (int code = 0; code < rules.codes; ++code) {
    const float value = rules.magnitude(code);
    if (std::isfinite(value)) entries.push_back({value, static_cast<std::uint8_t>(code)});
  }
  std::sort(entries.begin(), entries.end(),
            [](const Entry& a, const Entry& b) { return a.value < b.value; });
  entries.push_back({rules.beyond, rules.overflow});
  return entries;
}

std::uint8_t nearest(const Rules& rules, const std::vector<Entry>& entries, double magnitude) {
  const auto above = std::lower_bound(entries.begin(), entries.end(), magnitude,
                                      [](const Entry& e, double v) { return e.value < v; });
  if (above == entries.end()) return rules.overflow;
  if (above == entries.begin() || magnitude == above->value) return above->code;
  const auto below = above - 1;
  const double middle = (below->value + above->value) / 2;
  if (magnitude != middle) return magnitude < middle ? below->code : above->code;
  return rules.ties == Ties::away || below->code % 2 != 0 ? above->code : below->code;
}

std::uint8_t rounded(const Rules& rules, const std::vector<Entry>& entries, float value) {
  const std::uint8_t sign = rules.has_sign && std::signbit(value) ? kSign : 0;
  if (std::isnan(value)) return rules.nan | (rules.has_signed_nan ? sign : 0);
  const std::uint8_t code = nearest(rules, entries, std::fabs(double(value)));
  return code == 0 && !rules.has_negative_zero ? 0 : code | sign;
}

ByteFloat made(DType dtype) {
  const Rules rules = rules_of(dtype);
  ByteFloat made{};
  for (int code = 0; code < 256; ++code) {
    const float value = rules.magnitude(code % rules.codes);
    made.values[static_cast<std::size_t>(code)] = code < rules.codes ? value : -value;
  }
  if (!rules.has_negative_zero) made.values[rules.nan] = kNan;
  const std::vector<Entry> entries = ascending(rules);
  for (std::uint32_t upper = 0; upper < made.codes.size(); ++upper) {
    made.codes[upper] = rounded(rules, entries, std::bit_cast<float>(upper << 16));
  }
  for (const Entry& entry : entries) made.magnitudes.push_back(static_cast<float>(entry.value));
  made.magnitudes.pop_back();
  return made;
}

template <DType kDType>
const ByteFloat& table() {
  static const ByteFloat kTable = made(kDType);
  return kTable;
}

}  // namespace

const ByteFloat& byte_float(DType dtype) {
  switch (dtype) {
    case DType::fp8_e4m3fn:
      return table<DType::fp8_e4m3fn>();
    case DType::fp8_e5m2:
      return table<DType::fp8_e5m2>();
    case DType::hif8:
      return table<DType::hif8>();
    default:
      return table<DType::e8m0>();
  }
}

void widen(DType dtype, const void* from, float* to, std::size_t count) {
  if (dtype == DType::fp16) return widen(static_cast<const half*>(from), to, count);
  if (dtype == DType::bf16) return widen(static_cast<const bfloat16*>(from), to, count);
  const auto* codes = static_cast<const std::uint8_t*>(from);
  const ByteFloat& format = byte_float(dtype);
  std::transform(codes, codes + count, to, [&](std::uint8_t code) { return format.values[code]; });
}

}  // namespace opbench
