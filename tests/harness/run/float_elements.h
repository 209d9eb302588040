#pragma once

#include <cstring>
#include <vector>

#include "harness/run/kernel_run.h"

namespace opbench {

/// Conversion between fp32 numbers and a tensor's elements.
inline Elements stored(const std::vector<float>& values) {
  Elements elements(values.size() * sizeof(float));
  std::memcpy(elements.data(), values.data(), elements.size());
  return elements;
}
inline std::vector<float> numbers(const Elements& elements) {
  std::vector<float> values(elements.size() / sizeof(float));
  std::memcpy(values.data(), elements.data(), elements.size());
  return values;
}

}  // namespace opbench
