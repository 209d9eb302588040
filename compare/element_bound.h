#pragma once

#include <cstdint>
#include <vector>

#include "compare/judge_call.h"
#include "tensor/tensor.h"

namespace opbench {

/// What an element may be off by: |actual - expected| <= allowed + share * |expected|. Both 0: the
/// same bits, or the same value where `takes_any_nan`, but for the payload of a NaN.
struct ElementBound {
  double allowed = 0, share = 0;
  bool is_exact = false, takes_any_nan = false;
};

/// That of an output of a problem which was found wrong.
ElementBound bound_of(const Problem& problem, const OutputFinding& finding, std::size_t output);

/// What is expected, as the dtype holds it, in fp64: `expected` is of that dtype, or fp64 and not
/// rounded yet.
std::vector<double> rounded_values(const Tensor& expected, DType dtype);

/// The elements of `recorded` that are beyond the bound. Shapes are alike.
std::vector<std::int64_t> elements_beyond(const ElementBound& bound, const Tensor& expected,
                                          const Tensor& recorded);

}  // namespace opbench
