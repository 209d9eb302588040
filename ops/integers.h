#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "ops/broadcast.h"
#include "ops/op.h"

namespace opbench {

inline const std::vector<DType> kIntegerDTypes = {DType::int64, DType::int32, DType::int16,
                                                  DType::int8, DType::uint8};
/// Arithmetic in floating point and on integers.
inline const std::vector<DType> kNumberDTypes = {DType::fp32,  DType::fp16,  DType::bf16,
                                                 DType::int64, DType::int32, DType::int16,
                                                 DType::int8,  DType::uint8};

/// True for int64, int32, int16, int8, uint8.
inline bool is_integer(DType dtype) { return !is_floating(dtype) && dtype != DType::boolean; }

/// Calls `body` with a value of the C++ type that stores an integer dtype or bool.
template <class Body>
auto visit_integer(DType dtype, Body&& body) {
  switch (dtype) {
    case DType::int64:
      return body(std::int64_t{});
    case DType::int32:
      return body(std::int32_t{});
    case DType::int16:
      return body(std::int16_t{});
    case DType::int8:
    case DType::int4:
      return body(std::int8_t{});
    default:
      return body(std::uint8_t{});
  }
}

/// Elements of an integer dtype or bool as int64, and back modulo 2^bits.
void widen_integers(DType dtype, const void* from, std::span<std::int64_t> to);
void wrap_integers(std::span<const std::int64_t> from, DType dtype, void* to);

// Arithmetic modulo 2^bits of T, without undefined behaviour. Division by 0 gives 0, like NumPy.

/// The unsigned type in which arithmetic on T wraps.
template <class T>
using Modular =
    std::conditional_t<(sizeof(T) < sizeof(std::uint64_t)), std::uint32_t, std::uint64_t>;

inline constexpr auto integer_sum = []<class T>(T a, T b) {
  return static_cast<T>(Modular<T>(a) + Modular<T>(b));
};
inline constexpr auto integer_difference = []<class T>(T a, T b) {
  return static_cast<T>(Modular<T>(a) - Modular<T>(b));
};
inline constexpr auto integer_product = []<class T>(T a, T b) {
  return static_cast<T>(Modular<T>(a) * Modular<T>(b));
};
inline constexpr auto integer_negative = []<class T>(T a) {
  return static_cast<T>(Modular<T>(0) - Modular<T>(a));
};
/// The smallest number is its own magnitude.
inline constexpr auto integer_magnitude = []<class T>(T a) {
  return a < T(0) ? integer_negative(a) : a;
};
inline constexpr auto greater_integer = []<class T>(T a, T b) { return a < b ? b : a; };
inline constexpr auto smaller_integer = []<class T>(T a, T b) { return b < a ? b : a; };

/// a / b rounded toward 0, and its remainder with the sign of a.
inline constexpr auto truncated_quotient = []<class T>(T a, T b) {
  if (b == T(0)) return T(0);
  if (std::is_signed_v<T> && b == static_cast<T>(-1)) return integer_negative(a);
  return static_cast<T>(a / b);
};
inline constexpr auto truncated_remainder = []<class T>(T a, T b) {
  if (b == T(0) || (std::is_signed_v<T> && b == static_cast<T>(-1))) return T(0);
  return static_cast<T>(a % b);
};
/// a / b rounded down, and its remainder with the sign of b.
inline constexpr auto floored_quotient = []<class T>(T a, T b) {
  const T rest = truncated_remainder(a, b);
  const bool is_above = rest != T(0) && (rest < T(0)) != (b < T(0));
  return static_cast<T>(truncated_quotient(a, b) - (is_above ? 1 : 0));
};
inline constexpr auto floored_remainder = []<class T>(T a, T b) {
  const T rest = truncated_remainder(a, b);
  const bool has_other_sign = rest != T(0) && (rest < T(0)) != (b < T(0));
  return has_other_sign ? static_cast<T>(rest + b) : rest;
};

/// Reads the elements of an integer or bool `x`, broadcast to the shape of `view`.
void read_broadcast_integers(const InputReader& x, const BroadcastView& view, ElementRange range,
                             std::span<std::int64_t> to);

/// The exact reference of an element-wise operator on integers: `function` on int64, the result
/// modulo 2^bits of `dtype`.
template <std::size_t kInputs, class Function>
ExactReference integer_reference(std::string_view op, std::span<const InputReader> inputs,
                                 DType dtype, Function function) {
  const Dims to = infer_broadcast(op, descs_of(inputs))[0].shape;
  std::vector<BroadcastView> views;
  for (const InputReader& input : inputs) views.emplace_back(input.desc().shape, to);
  return [inputs = std::vector(inputs.begin(), inputs.end()), views, dtype, function](
             std::size_t, ElementRange range, void* values) {
    thread_local std::array<std::vector<std::int64_t>, kInputs> read;
    for (std::size_t i = 0; i < kInputs; ++i) {
      read[i].resize(static_cast<std::size_t>(range.count));
      read_broadcast_integers(inputs[i], views[i], range, read[i]);
    }
    [&]<std::size_t... kAt>(std::index_sequence<kAt...>) {
      for (std::size_t i = 0; i < read[0].size(); ++i) {
        read[0][i] = static_cast<std::int64_t>(function(read[kAt][i]...));
      }
    }
    (std::make_index_sequence<kInputs>());
    wrap_integers(read[0], dtype, values);
  };
}

}  // namespace opbench
