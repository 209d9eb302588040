#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>

#include "tensor/tensor.h"

namespace opbench {

/// Statistics of the values of a tensor.
struct ValueRange {
  DType dtype = DType::fp32;
  std::int64_t elements = 0, nan = 0, inf = 0, zero = 0;
  std::int64_t largest = 0;  ///< +-65504 in fp16: the result of saturation
  double max_abs = 0;        ///< of the finite values
  /// Finite nonzero values by the exponent of their magnitude: element e + kBias counts 2^e <= |x|
  /// < 2^(e+1).
  static constexpr int kBias = 1075;  ///< makes indices of fp64's exponents
  std::array<std::int64_t, 2100> exponents{};

  void add(const double* values, std::int64_t count);
  void merge(const ValueRange& other);

  /// Number of finite nonzero values with a magnitude below 2^exponent.
  std::int64_t below(int exponent) const;
  /// Number of powers of two by which all values could grow without overflow, rounded down to
  /// hundredths. None without nonzero values, or if the dtype has no infinity.
  std::optional<double> headroom_bits() const;
};

/// Exponent of a floating dtype's smallest normal value: -14 for fp16.
int smallest_normal_exponent(DType dtype);

/// Values that show an overflow of an operator: they are in its outputs and not in its inputs.
struct NewValues {
  std::int64_t nan = 0, inf = 0, largest = 0;
  bool is_any() const { return nan + inf + largest > 0; }
  void add(const NewValues& other) {
    nan += other.nan;
    inf += other.inf;
    largest += other.largest;
  }
};

/// Inf, NaN and +-65504 of `outputs`. Kinds that `inputs` also hold are not new.
NewValues new_values(const ValueRange& inputs, const ValueRange& outputs);

/// "12 NaN, 3 Inf, 1 of +-65504 among 4096"; empty without such values.
std::string to_string(const NewValues& found, std::int64_t elements);

/// Statistics of the elements of a tensor in memory, without padding. +-65504 counts if
/// `counted_as` is fp16. All zero if the tensor is not floating.
ValueRange storage_range(const TensorDesc& desc, const void* storage, DType counted_as);

}  // namespace opbench
