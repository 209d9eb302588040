#pragma once

#include <string_view>
#include <vector>

#include "tests/evaluate.h"

namespace opbench {

/// An input of any shape and dtype with its values in logical order.
struct Given {
  DType dtype;
  Dims shape;
  std::vector<double> values;
};

/// The values of every output, in logical order.
using Values = std::vector<std::vector<double>>;

/// What the reference gives for inputs of their own shapes and dtypes. Values are checked first.
Values reference_of_tensors(std::string_view op, const std::vector<Given>& inputs,
                            const AttrTexts& attrs = {});

/// What a variant computes on the same.
Values kernel_on_tensors(std::string_view op, std::string_view variant,
                         const std::vector<Given>& inputs, const AttrTexts& attrs = {},
                         int threads = 1);

}  // namespace opbench
