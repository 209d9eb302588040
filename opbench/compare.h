#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "tensor/dtype.h"
#include "tensor/shape.h"

namespace opbench {

/// How far the elements of one buffer are from those of another, and the verdict of a standard.
///
/// NaN agrees with NaN, Inf with the Inf of its sign; any other pair with one of them is a
/// mismatch, fails under every standard and enters no error. +0 equals -0.
struct BufferComparison {
  /// `mistrusted` is a pass that proves little: no elements, constant, mostly zeros, nothing
  /// finite.
  enum class Verdict { passed, failed, mistrusted };

  Verdict verdict = Verdict::passed;
  /// One line with the deciding number and the worst element; empty for a plain pass.
  std::string reason;
  std::int64_t elements = 0;
  std::int64_t unequal = 0;          ///< elements that differ, mismatches included
  std::int64_t mismatches = 0;       ///< NaN or Inf on one side only
  double inside_share = 1;           ///< of the elements that are inside the tolerance, 0 to 1
  double max_abs = 0, mean_abs = 0;  ///< of |actual - expected|
  double max_rel = 0, mean_rel = 0;  ///< of |actual - expected| / |expected|
  double rmse = 0;                   ///< root of the mean square error
  double cosine = 1;                 ///< of the angle between both
  double max_ulp = 0;                ///< representable values from one to the other, of the dtype
  std::int64_t worst_index = -1;  ///< element with the largest absolute error; -1 if there is none
};

/// Holds `actual` to `expected`. Both have `element_count(shape)` elements of `dtype`, dense, in
/// row-major order; fp16 and bf16 as their 16 bits, bool as a byte of 0 or 1. `standard` is
/// "mixed", "exact", "statistical", "cosine" or "prec=X"; docs/accuracy.md has their numbers.
/// Sums are in fp64 and do not depend on the number of threads.
/// Errors: throws Error for another standard or a shape that is none.
BufferComparison compare_buffers(DType dtype, const Dims& shape, const void* actual,
                                 const void* expected, std::string_view standard = "mixed");

}  // namespace opbench
