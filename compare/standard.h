#pragma once

#include <string>
#include <string_view>

#include "tensor/dtype.h"

namespace opbench {

/// The numbers of the `mixed` standard for one dtype: at least `inside_share` of the elements
/// satisfy |actual - expected| <= atol + rtol*|expected|, and none is off by more than `limit`
/// unless within `limit_ulp` units in the last place. All zero: bit for bit. Source: the mixed
/// standard of the NPU operator test kits (fp16 2^-9 2^-9 0.1; bf16 2^-6 2^-6 1; fp32 2^-10 2^-16
/// 0.01).
struct Tolerance {
  double rtol = 0;
  double atol = 0;
  double limit = 0;
  double limit_ulp = 0;
  double inside_share = 1;

  bool operator==(const Tolerance&) const = default;
};

/// The default standard for values of `dtype`; exact for integers and bool.
Tolerance mixed_tolerance(DType dtype);

}  // namespace opbench
