#pragma once

#include <Eigen/Core>
#include <cstddef>

#include "tensor/dtype.h"

namespace opbench {

using half = Eigen::half;
using bfloat16 = Eigen::bfloat16;

/// Round to nearest, ties to even, subnormals kept.
half to_half(float value, HalfMode mode = HalfMode::ieee);
bfloat16 to_bfloat16(float value);

/// The same from fp64 with a single rounding (through fp32 it could round twice).
half round_to_half(double value);
bfloat16 round_to_bfloat16(double value);

/// Bulk conversions, vectorised for the selected instruction set; the same bits as the scalar ones.
/// `from` and `to` need no alignment and must not overlap.
void widen(const half* from, float* to, std::size_t count);
void widen(const bfloat16* from, float* to, std::size_t count);
void narrow(const float* from, half* to, std::size_t count, HalfMode mode = HalfMode::ieee);
void narrow(const float* from, bfloat16* to, std::size_t count);

/// Calls `body` with a value of the C++ type that stores `dtype`; fp32, fp16 and bf16.
template <class Body>
void visit_arithmetic(DType dtype, Body&& body) {
  if (dtype == DType::fp16) return body(half{});
  if (dtype == DType::bf16) return body(bfloat16{});
  body(float{});
}

}  // namespace opbench
