#pragma once

#include <cstdint>
#include <vector>

#include "ops/movement.h"

namespace opbench {

/// Calls `body(first)` with the first element of every line along the axis of `view`; elements of a
/// line are `view.inner` apart.
template <class Body>
void for_each_axis_line(const AxisView& view, Body body) {
  for (std::int64_t line = 0; line < view.outer * view.inner; ++line) {
    body(line / view.inner * view.extent * view.inner + line % view.inner);
  }
}

/// Golden values that are made all at once: those of output i are `values[i]`.
Reference elements_of(std::vector<std::vector<double>> values);

}  // namespace opbench
