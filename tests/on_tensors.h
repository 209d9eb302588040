#pragma once

#include <string_view>
#include <vector>

#include "tests/evaluate.h"

namespace opbench {

/// An input of any shape and dtype, with its values in logical order.
struct Given {
  DType dtype;
  Dims shape;
  std::vector<double> values;
};

/// The values of every output, in logical order.
using Values = std::vector<std::vector<double>>;

/// The reference's outputs for inputs with their own shapes and dtypes. Values are checked first.
Values reference_of_tensors(std::string_view op, const std::vector<Given>& inputs,
                            const AttrTexts& attrs = {});

/// A variant's outputs for these inputs.
Values kernel_on_tensors(std::string_view op, std::string_view variant,
                         const std::vector<Given>& inputs, const AttrTexts& attrs = {},
                         int threads = 1);

}  // namespace opbench
