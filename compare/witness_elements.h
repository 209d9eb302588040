#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "compare/judge_call.h"
#include "compare/witness.h"
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

/// Elements in logical order as Python has them: the shortest text that reads back as the same
/// number, "inf", "nan", "-0.0".
std::vector<std::string> element_texts(const Tensor& tensor);

/// What is expected of the recorded output: rounded to its dtype, or as it is where rounding is
/// what is wrong.
std::vector<std::string> expected_texts(const Witness& witness);

/// "1, 2, 3" in lines of at most about 100 letters, those after the first behind `indent`.
std::string number_list(const std::vector<std::string>& numbers, std::string_view indent);

/// "[1, 4]"
std::string shape_text(const Dims& shape);

}  // namespace opbench
