#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "ops/op.h"
#include "tensor/byte_float.h"

namespace opbench {

/// Rounding of a quotient to a whole step; `nearest` takes ties to even.
enum class StepRounding { nearest, floor, ceil, trunc };

/// The values of a quantised dtype: whole numbers of an integer, or the finite numbers of a float
/// of one byte. Results beyond the last ones become these ("clipped").
struct Steps {
  DType dtype = DType::int8;
  StepRounding rounding = StepRounding::nearest;
  double least = -128, most = 127;

  /// The value that is stored for an exact result. NaN gives 0 in an integer: no source states what
  /// devices store.
  double operator()(double exact) const;
  /// The distance between the ends that asymmetric quantisation scales to: 255 for int8.
  double width() const { return most - least; }
};

inline const std::vector<DType> kStepDTypes = {DType::int8, DType::int4, DType::fp8_e4m3fn,
                                               DType::fp8_e5m2, DType::hif8};

/// The steps that the attribute `dst_type` names, with the rounding of `round_mode`, if declared.
Steps steps_of(const Attrs& attrs);
Steps steps_of(DType dtype, StepRounding rounding = StepRounding::nearest);

/// The attribute `dst_type` with a dtype of `kStepDTypes`.
AttrSpec dst_type_attr();

/// The reference of an operator whose output 0 has steps: `exact` gives the results before they are
/// rounded; other outputs are as `exact` states.
Reference stepped(Reference exact, Steps steps);

/// The terms of such an operator.
Terms terms_of_steps(Reference exact, Reference magnitude, Steps steps);

/// Reads an input of one element, or of one for each channel: element i of `read_channels` belongs
/// to channel i. `usual` if the input is not given.
std::vector<double> read_channels(std::span<const InputReader> inputs, std::size_t input,
                                  std::int64_t channels, double usual);

/// Errors: throws Error unless an input has one element or one for each of `channels`.
void require_channels(std::string_view op, std::string_view name, const TensorDesc& desc,
                      std::int64_t channels);

/// a / b rounded up, for a of 0 or more and any b above 0.
inline std::int64_t quotient_up(std::int64_t a, std::int64_t b) {
  return a == 0 ? 0 : (a - 1) / b + 1;
}

/// Data of scales: from 2^-7 to 2^-5, so that results of normal(0,1) over them fill int8.
Distribution divisor_data(const Problem& problem);

}  // namespace opbench
