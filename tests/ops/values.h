#pragma once

#include <gmock/gmock.h>

#include <string_view>
#include <vector>

#include "tests/on_tensors.h"
#include "tests/support.h"

namespace opbench {

inline constexpr DType kFp32 = DType::fp32;

inline Given mask(const Dims& shape, const std::vector<double>& values) {
  return {DType::boolean, shape, values};
}

inline std::vector<double> fp32_values(std::string_view op,
                                       const std::vector<std::vector<double>>& inputs,
                                       const AttrTexts& attrs = {}) {
  return reference_values(op, DType::fp32, inputs, attrs);
}

/// The first output of the reference. The output of `native` must equal it.
inline std::vector<double> agreed_values(std::string_view op, const std::vector<Given>& inputs,
                                         const AttrTexts& attrs = {}) {
  const std::vector<double> y = reference_of_tensors(op, inputs, attrs)[0];
  EXPECT_EQ(kernel_on_tensors(op, "native", inputs, attrs)[0], y);
  return y;
}

/// Checks the first output of the reference, and of `native` with every instruction set.
template <class Expected = std::vector<double>>
void expect_values(std::string_view op, const std::vector<Given>& inputs, const Expected& expected,
                   const AttrTexts& attrs = {}) {
  SCOPED_TRACE(op);
  EXPECT_THAT(reference_of_tensors(op, inputs, attrs)[0], expected);
  on_every_isa([&] { EXPECT_THAT(kernel_on_tensors(op, "native", inputs, attrs)[0], expected); });
}

}  // namespace opbench
