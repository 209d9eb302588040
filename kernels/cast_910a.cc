// Cast as Ascend 910A composes it. Its vector unit converts few pairs directly. The others go
// through fp16 or int32 and lose what these types cannot hold. Source: CANN dynamic/cast.py, the
// branches for chips without tik.vcopy and below v220. A final overflow to fp16 gives Inf as
// elsewhere in opbench, though the device saturates; intermediate results do saturate.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>

#include "kernels/cast.h"
#include "tensor/half.h"

namespace opbench {
namespace {

float as_half(float x) { return static_cast<float>(to_half(x, HalfMode::saturate)); }

// A single rounding: fp32 is exact up to the range of fp16, and beyond it all values are equal.
float as_half(std::int32_t x) { return as_half(static_cast<float>(std::clamp(x, -65536, 65536))); }

float modulo_256(float x) { return x - 256 * std::floor(x / 256); }

std::int32_t to_int32(float x) {
  if (x >= 0x1p31f) return std::numeric_limits<std::int32_t>::max();
  if (x >= -0x1p31f) return static_cast<std::int32_t>(x);
  return x < 0 ? std::numeric_limits<std::int32_t>::min() : 0;
}

std::uint8_t int8_to_uint8(std::int8_t x) { return static_cast<std::uint8_t>(std::abs(x)); }

std::int8_t int32_to_int8(std::int32_t x) {
  return static_cast<std::int8_t>(modulo_256(as_half(as_half(x) + 128)) - 128);
}

std::uint8_t int32_to_uint8(std::int32_t x) {
  return static_cast<std::uint8_t>(modulo_256(as_half(x)));
}

// 64-bit integers are first truncated to 32 bits.
float int64_to_fp32(std::int64_t x) { return static_cast<float>(static_cast<std::int32_t>(x)); }
half int64_to_fp16(std::int64_t x) { return round_to_half(static_cast<std::int32_t>(x)); }
std::uint8_t int64_to_uint8(std::int64_t x) { return int32_to_uint8(static_cast<std::int32_t>(x)); }
std::uint8_t int64_to_bool(std::int64_t x) { return static_cast<std::int32_t>(x) != 0 ? 1 : 0; }

std::int64_t fp32_to_int64(float x) { return to_int32(x); }
std::uint8_t fp32_to_uint8(float x) {
  return static_cast<std::uint8_t>(modulo_256(static_cast<float>(to_int32(x))));
}
std::uint8_t fp32_to_bool(float x) { return to_int32(std::ceil(std::fabs(x))) != 0 ? 1 : 0; }

std::uint8_t fp16_to_uint8(half x) { return int32_to_uint8(to_int32(static_cast<float>(x))); }
std::int8_t fp16_to_int8(half x) { return int32_to_int8(to_int32(static_cast<float>(x)) & 255); }

template <auto kConvert>
struct Each;

template <class To, class From, To (*kConvert)(From)>
struct Each<kConvert> {
  static void loop(const void* from, void* to, std::size_t count) {
    std::transform(static_cast<const From*>(from), static_cast<const From*>(from) + count,
                   static_cast<To*>(to), kConvert);
  }
};

struct Pair {
  DType from, to;
  CastLoop loop;  ///< null: the device's result equals the reference
};

constexpr Pair kPairs[] = {
    {DType::fp32, DType::fp16, nullptr},
    {DType::fp32, DType::int32, nullptr},
    {DType::fp32, DType::int64, Each<fp32_to_int64>::loop},
    {DType::fp32, DType::uint8, Each<fp32_to_uint8>::loop},
    {DType::fp32, DType::boolean, Each<fp32_to_bool>::loop},
    {DType::fp16, DType::fp32, nullptr},
    {DType::fp16, DType::int32, nullptr},
    {DType::fp16, DType::int8, Each<fp16_to_int8>::loop},
    {DType::fp16, DType::uint8, Each<fp16_to_uint8>::loop},
    {DType::fp16, DType::boolean, nullptr},
    {DType::int64, DType::fp32, Each<int64_to_fp32>::loop},
    {DType::int64, DType::fp16, Each<int64_to_fp16>::loop},
    {DType::int64, DType::int32, nullptr},
    {DType::int64, DType::uint8, Each<int64_to_uint8>::loop},
    {DType::int64, DType::boolean, Each<int64_to_bool>::loop},
    {DType::int32, DType::fp32, nullptr},
    {DType::int32, DType::fp16, nullptr},
    {DType::int32, DType::int64, nullptr},
    {DType::int32, DType::int8, Each<int32_to_int8>::loop},
    {DType::int32, DType::uint8, Each<int32_to_uint8>::loop},
    {DType::int32, DType::boolean, nullptr},
    {DType::int8, DType::fp32, nullptr},
    {DType::int8, DType::fp16, nullptr},
    {DType::int8, DType::int64, nullptr},
    {DType::int8, DType::int32, nullptr},
    {DType::int8, DType::uint8, Each<int8_to_uint8>::loop},
    {DType::int8, DType::boolean, nullptr},
    {DType::uint8, DType::fp32, nullptr},
    {DType::uint8, DType::fp16, nullptr},
    {DType::uint8, DType::int64, nullptr},
    {DType::uint8, DType::int32, nullptr},
    {DType::uint8, DType::boolean, nullptr},
    {DType::boolean, DType::fp32, nullptr},
    {DType::boolean, DType::fp16, nullptr},
    {DType::boolean, DType::int64, nullptr},
    {DType::boolean, DType::int32, nullptr},
    {DType::boolean, DType::uint8, nullptr},
};

const Pair* find_pair(const Problem& problem) {
  const auto found = std::find_if(std::begin(kPairs), std::end(kPairs), [&](const Pair& pair) {
    return pair.from == problem.inputs[0].dtype && pair.to == problem.outputs[0].dtype;
  });
  return found == std::end(kPairs) ? nullptr : found;
}

std::string refuse_pair(const Problem& problem) {
  if (find_pair(problem) != nullptr) return {};
  return fmt::format("Cast on 910A has no {} to {}", name(problem.inputs[0].dtype),
                     name(problem.outputs[0].dtype));
}

Launch prepare(const Problem& problem) {
  const Pair& pair = *find_pair(problem);
  return pair.loop != nullptr ? cast_launch(problem, pair.loop) : vectorised_cast(problem);
}

// Beyond int32 or fp16, and for negative int8 to uint8, the device's result differs from the
// framework's. This variant has the device's result.
const RegisteredKernel npu_910a{{
    .op = "cast",
    .name = "npu_910a",
    .provider = Provider::npu,
    .summary = "Cast on 910A: int8 to uint8 is |x|, int32 to 8 bits through fp16, fp32 to int64 "
               "through int32",
    .refusal = refuse_pair,
    .prepare = prepare,
    .takes = InputRange::finite,
    .device_name = "Cast",
}};

}  // namespace
}  // namespace opbench
