#pragma once

#include <array>
#include <string>
#include <variant>
#include <vector>

#include "ops/elementwise.h"

namespace opbench {

/// The reference of an optimiser: `update(x)` gets one element of each input, 0 for those that are
/// not given, and returns one element of each output.
template <class Update>
Reference update_reference(std::span<const InputReader> inputs, Update update) {
  constexpr std::size_t kMost = 5;  // inputs
  return [inputs = std::vector(inputs.begin(), inputs.end()), update](
             std::size_t output, ElementRange range, std::span<double> to) {
    std::vector<double> values[kMost];
    for (std::size_t i = 0; i < kMost; ++i) {
      values[i].resize(to.size());
      if (is_given(inputs, i)) inputs[i].read(range, values[i]);
    }
    for (std::size_t k = 0; k < to.size(); ++k) {
      std::array<double, kMost> x;
      for (std::size_t i = 0; i < kMost; ++i) x[i] = values[i][k];
      to[k] = update(x)[output];
    }
  };
}

/// Every input but the gradient becomes an output.
template <int kOperations>
Traffic update_traffic(const Problem& problem) {
  Traffic traffic = elementwise_traffic(problem, kOperations);
  traffic.bytes_written *= double(problem.outputs.size());
  return traffic;
}

// Checks of attributes.
inline std::string not_negative(const AttrValue& value) {
  return std::get<double>(value) >= 0 ? "" : "it must be 0 or more";
}
inline std::string share(const AttrValue& value) {
  const double number = std::get<double>(value);
  return number >= 0 && number <= 1 ? "" : "it must be from 0 to 1";
}

/// Values of means of squares, which are not negative.
inline Distribution squares(const Problem&) { return {DistributionKind::uniform, 0, 1}; }

}  // namespace opbench
