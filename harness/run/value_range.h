#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>

#include "tensor/tensor.h"

namespace opbench {

/// What the values of a tensor come to.
struct ValueRange {
  DType dtype = DType::fp32;
  std::int64_t elements = 0, nan = 0, inf = 0, zero = 0;
  std::int64_t largest = 0;  ///< +-65504, in fp16: what saturates ends there
  double max_abs = 0;        ///< of the finite ones
  /// Finite ones that are not 0 by the exponent of their magnitude: number e + kBias counts
  /// 2^e <= |x| < 2^(e+1).
  static constexpr int kBias = 1075;
  std::array<std::int64_t, 2100> exponents{};

  void add(const double* values, std::int64_t count);
  void merge(const ValueRange& other);

  /// How many finite ones that are not 0 are less than 2^exponent.
  std::int64_t below(int exponent) const;
  /// By how many powers of two all could grow without leaving the dtype, rounded down to
  /// hundredths; none: no value says so, or the dtype has no infinity.
  std::optional<double> headroom_bits() const;
};

/// The exponent of a floating dtype's smallest normal value: -14 for fp16.
int smallest_normal_exponent(DType dtype);

/// Values that say an operator has overflowed, by what is in its outputs and not in its inputs.
struct NewValues {
  std::int64_t nan = 0, inf = 0, largest = 0;
  bool is_any() const { return nan + inf + largest > 0; }
  void add(const NewValues& other) {
    nan += other.nan;
    inf += other.inf;
    largest += other.largest;
  }
};

/// Inf, NaN and +-65504 of `outputs`; kinds that `inputs` hold, too, are not new.
NewValues new_values(const ValueRange& inputs, const ValueRange& outputs);

/// "12 NaN, 3 Inf, 1 of +-65504 among 4096"; empty if there is none.
std::string to_string(const NewValues& found, std::int64_t elements);

/// What the elements of a tensor in memory come to, padding left out; +-65504 counts in
/// `counted_as` fp16. All zero for what is no floating tensor.
ValueRange storage_range(const TensorDesc& desc, const void* storage, DType counted_as);

}  // namespace opbench
