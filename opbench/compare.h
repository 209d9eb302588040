#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "tensor/dtype.h"
#include "tensor/shape.h"

namespace opbench {

/// The difference between the elements of two buffers, and the verdict of a standard.
///
/// NaN agrees with NaN, and Inf with Inf of the same sign. Any other pair with a NaN or an Inf is a
/// mismatch: it fails under every standard and does not count in the errors. +0 equals -0.
struct BufferComparison {
  /// `mistrusted` is a pass that proves little: the buffer is empty, constant, mostly zero or
  /// without finite elements.
  enum class Verdict { passed, failed, mistrusted };

  Verdict verdict = Verdict::passed;
  /// One line with the deciding number and the worst element; empty if the buffer passed.
  std::string reason;
  std::int64_t elements = 0;
  std::int64_t unequal = 0;          ///< elements that differ, mismatches included
  std::int64_t mismatches = 0;       ///< NaN or Inf on one side only
  double inside_share = 1;           ///< of the elements that are inside the tolerance, 0 to 1
  double max_abs = 0, mean_abs = 0;  ///< of |actual - expected|
  double max_rel = 0, mean_rel = 0;  ///< of |actual - expected| / |expected|
  double rmse = 0;                   ///< root of the mean square error
  double cosine = 1;                 ///< of the angle between both
  double max_ulp = 0;                ///< representable values of the dtype from one to the other
  std::int64_t worst_index = -1;     ///< element with the largest absolute error; -1 without errors
};

/// Compares `actual` with `expected`. Both have `element_count(shape)` elements of `dtype`, dense,
/// in row-major order; fp16 and bf16 as their 16 bits, bool as a byte of 0 or 1. `standard` is
/// "mixed", "exact", "statistical", "cosine" or "prec=X"; docs/accuracy.md has their numbers. Sums
/// are in fp64 and do not depend on the number of threads. Errors: throws Error for another
/// standard or an invalid shape.
BufferComparison compare_buffers(DType dtype, const Dims& shape, const void* actual,
                                 const void* expected, std::string_view standard = "mixed");

}  // namespace opbench
