#pragma once

#include <cmath>
#include <nlohmann/json.hpp>

namespace opbench {

/// A number as JSON can hold it: null where it is not finite.
inline nlohmann::ordered_json finite_or_null(double value) {
  return std::isfinite(value) ? nlohmann::ordered_json(value) : nlohmann::ordered_json(nullptr);
}

}  // namespace opbench
