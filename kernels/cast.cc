// Element-wise conversions, one function for each pair of dtypes.
#include "kernels/cast.h"

#include <algorithm>
#include <array>
#include <limits>
#include <tuple>
#include <type_traits>
#include <utility>

#include "kernels/simd/elementwise.h"
#include "ops/cast.h"
#include "tensor/byte_float.h"
#include "tensor/half.h"

namespace opbench {
namespace {

struct Bool {
  std::uint8_t byte;
};

template <DType kDType>
struct Byte {
  std::uint8_t code;
};

struct Int4 {
  std::int8_t value;
};

// In the order of DType.
using Types = std::tuple<double, float, half, bfloat16, std::int64_t, std::int32_t, std::int16_t,
                         std::int8_t, std::uint8_t, Bool, Byte<DType::fp8_e4m3fn>,
                         Byte<DType::fp8_e5m2>, Byte<DType::hif8>, Byte<DType::e8m0>, Int4>;
constexpr std::size_t kTypes = std::tuple_size_v<Types>;
static_assert(kTypes == kAllDTypes.size());

template <class T>
constexpr bool kIsHalf = std::is_same_v<T, half> || std::is_same_v<T, bfloat16>;

template <DType kDType>
float number_of(Byte<kDType> x) {
  return byte_float(kDType).values[x.code];
}

// The type to compute with: fp32 for narrower floats, 0 or 1 for bool.
template <class T>
auto number_of(T x) {
  if constexpr (kIsHalf<T>)
    return static_cast<float>(x);
  else if constexpr (std::is_same_v<T, Bool>)
    return static_cast<std::uint8_t>(x.byte != 0);
  else if constexpr (std::is_same_v<T, Int4>)
    return x.value;
  else
    return x;
}

// A number of at least 24 bits that rounds to narrower dtypes like `x`.
template <class Number>
float to_odd_float(Number x) {
  if constexpr (sizeof(Number) <= 2 || std::is_same_v<Number, float>)
    return static_cast<float>(x);
  else if constexpr (std::is_floating_point_v<Number>)
    return rounded_to_odd(x);
  else
    return rounded_to_odd(to_odd_double(x));
}

template <DType kDType, class Number>
void put(Number x, Byte<kDType>& to) {
  to.code = byte_float(kDType).code(to_odd_float(x));
}

template <class To, class Number>
To to_16_bits(Number x) {
  if constexpr (sizeof(Number) <= 2 || std::is_same_v<Number, float>) {
    if constexpr (std::is_same_v<To, half>)
      return to_half(static_cast<float>(x));
    else
      return to_bfloat16(static_cast<float>(x));
  } else {
    double wide;
    if constexpr (std::is_floating_point_v<Number>)
      wide = x;
    else
      wide = to_odd_double(x);
    if constexpr (std::is_same_v<To, half>)
      return round_to_half(wide);
    else
      return round_to_bfloat16(wide);
  }
}

template <class To, class Number>
To clamped(Number x) {
  // max() + 1 is a power of two, so it is exact in fp64; max() itself may not be.
  constexpr Number kEnd = Number(2) * static_cast<Number>(std::numeric_limits<To>::max() / 2 + 1);
  if (x >= kEnd) return std::numeric_limits<To>::max();
  if (x >= -kEnd) return static_cast<To>(x);
  return x < 0 ? std::numeric_limits<To>::min() : To(0);  // NaN is neither less nor greater
}

template <class Number>
void put(Number x, Int4& to) {
  if constexpr (std::is_floating_point_v<Number>)
    to.value = std::clamp<std::int8_t>(clamped<std::int8_t>(x), -8, 7);
  else
    to.value = low_four_bits(x);
}

template <class To, class From>
To converted(From from) {
  const auto x = number_of(from);
  using Number = decltype(x);
  if constexpr (std::is_same_v<To, Bool>)
    return {static_cast<std::uint8_t>(x != 0)};
  else if constexpr (kIsHalf<To>)
    return to_16_bits<To>(x);
  else if constexpr (std::is_class_v<To>) {
    To to;
    put(x, to);
    return to;
  } else if constexpr (!std::is_floating_point_v<std::remove_const_t<Number>> ||
                       std::is_floating_point_v<To>)
    return static_cast<To>(x);
  else if constexpr (std::is_same_v<To, std::uint8_t>)
    return modulo_256(double(x));
  else
    return clamped<To>(x);
}

template <class From, class To>
void loop(const void* from, void* to, std::size_t count) {
  const auto* x = static_cast<const From*>(from);
  auto* y = static_cast<To*>(to);
  if constexpr (std::is_same_v<From, To> && !std::is_same_v<To, Bool> &&
                !std::is_same_v<To, Int4>) {
    std::copy_n(x, count, y);
  } else if constexpr (std::is_same_v<From, float> && kIsHalf<To>) {
    narrow(x, y, count);  // every framework has vectorised this pair
  } else if constexpr (kIsHalf<From> && std::is_same_v<To, float>) {
    widen(x, y, count);
  } else {
    for (std::size_t i = 0; i < count; ++i) y[i] = converted<To>(x[i]);
  }
}

template <std::size_t... kPairs>
constexpr std::array<CastLoop, sizeof...(kPairs)> loops(std::index_sequence<kPairs...>) {
  return {loop<std::tuple_element_t<kPairs / kTypes, Types>,
               std::tuple_element_t<kPairs % kTypes, Types>>...};
}

Launch prepare(const Problem& problem) {
  return cast_launch(problem, cast_loop(problem.inputs[0].dtype, problem.outputs[0].dtype));
}

const RegisteredKernel native{{
    .op = "cast",
    .name = "native",
    .provider = Provider::framework,
    .summary = "one pass, plain stores; vectorised between fp32 and 16 bits only",
    .prepare = prepare,
}};

}  // namespace

CastLoop cast_loop(DType from, DType to) {
  static constexpr auto kLoops = loops(std::make_index_sequence<kTypes * kTypes>());
  return kLoops[static_cast<std::size_t>(from) * kTypes + static_cast<std::size_t>(to)];
}

Launch cast_launch(const Problem& problem,
                   std::function<void(const void* from, void* to, std::size_t count)> convert) {
  return
      [convert = std::move(convert), from = problem.inputs[0].dtype, to = problem.outputs[0].dtype,
       elements = stored_elements(problem)](const KernelArgs& args) {
        for_each_range(elements, [&](std::int64_t begin, std::int64_t end) {
          convert(at(args.inputs[0], from, begin), at(args.outputs[0], to, begin),
                  static_cast<std::size_t>(end - begin));
        });
      };
}

}  // namespace opbench
