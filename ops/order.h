#pragma once

#include <cmath>
#include <cstdint>
#include <vector>

#include "ops/op.h"
#include "tensor/half.h"

namespace opbench {

/// Element types that sort and max take: all but bool.
inline const std::vector<DType> kOrderedDTypes = {DType::fp32,  DType::fp16,  DType::bf16,
                                                  DType::int64, DType::int32, DType::int16,
                                                  DType::int8,  DType::uint8, DType::fp64};

/// Calls `body` with a value of the C++ type that stores an ordered dtype.
template <class Body>
auto visit_ordered(DType dtype, Body&& body) {
  switch (dtype) {
    case DType::fp16:
      return body(half{});
    case DType::bf16:
      return body(bfloat16{});
    case DType::int64:
      return body(std::int64_t{});
    case DType::int32:
      return body(std::int32_t{});
    case DType::int16:
      return body(std::int16_t{});
    case DType::int8:
      return body(std::int8_t{});
    case DType::uint8:
      return body(std::uint8_t{});
    case DType::fp64:
      return body(double{});
    default:
      return body(float{});
  }
}

/// The order of torch: NaN is greater than any number and equal to itself, -0 equals +0.
template <class T>
bool is_less(T a, T b) {
  return a < b;
}
inline bool is_less(float a, float b) { return a < b || (std::isnan(b) && !std::isnan(a)); }
inline bool is_less(double a, double b) { return a < b || (std::isnan(b) && !std::isnan(a)); }
inline bool is_less(half a, half b) { return is_less(float(a), float(b)); }
inline bool is_less(bfloat16 a, bfloat16 b) { return is_less(float(a), float(b)); }

}  // namespace opbench
