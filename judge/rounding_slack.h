#pragma once

#include <optional>
#include <span>

#include "ops/intermediates.h"
#include "tensor/dtype.h"

namespace opbench {

/// Which differences from the golden values the intermediate results of an operator explain: at
/// most four unit roundoffs of them, and Inf or NaN where one of them leaves the dtype.
class RoundingSlack {
 public:
  /// `golden`: the values that are expected, not rounded. Roundoff and range are those of `dtype`,
  /// or of the narrower one that `operands` are rounded to first.
  RoundingSlack(Reference golden, Intermediates intermediates, DType dtype,
                std::optional<DType> operands = {});

  /// True if the operator tells of any.
  bool is_any() const;
  /// What the differences are held to, as a multiple of the intermediates' rounding.
  double factor() const;
  /// Makes elements `range` of output `output` in `actual` those in `expected`, which are the
  /// golden ones, where the difference is explained. Both lie densely in memory and are of `dtype`.
  void forgive(std::size_t output, ElementRange range, DType dtype, const void* expected,
               void* actual) const;

 private:
  bool explains(double actual, double golden, double rounding, double greatest) const;

  Reference golden_;
  Intermediates intermediates_;
  double roundoff_, largest_held_, largest_;  ///< the greatest intermediate result and output
};

}  // namespace opbench
