#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "compare/judge_call.h"
#include "compare/witness.h"
#include "tensor/tensor.h"

namespace opbench {

/// The allowed error of an element: |actual - expected| <= allowed + share * |expected|. Both 0:
/// the bits must be equal; or, with `takes_any_nan`, equal except for the payload of a NaN.
struct ElementBound {
  double allowed = 0, share = 0;
  bool is_exact = false, takes_any_nan = false;
};

/// The bound of an output of a problem that was found wrong.
ElementBound bound_of(const Problem& problem, const OutputFinding& finding, std::size_t output);

/// The expected values as the dtype represents them, in fp64. `expected` has that dtype, or is fp64
/// and not rounded yet.
std::vector<double> rounded_values(const Tensor& expected, DType dtype);

/// The elements of `recorded` beyond the bound. The shapes are equal.
std::vector<std::int64_t> elements_beyond(const ElementBound& bound, const Tensor& expected,
                                          const Tensor& recorded);

/// Elements in logical order in Python's notation: the shortest text that reads back as the same
/// number, "inf", "nan", "-0.0".
std::vector<std::string> element_texts(const Tensor& tensor);

/// The expected values of the recorded output. Rounded to its dtype, unless the rounding is wrong.
std::vector<std::string> expected_texts(const Witness& witness);

/// "1, 2, 3" in lines of about 100 characters at most; lines after the first begin with `indent`.
std::string number_list(const std::vector<std::string>& numbers, std::string_view indent);

/// "[1, 4]"
std::string shape_text(const Dims& shape);

}  // namespace opbench
