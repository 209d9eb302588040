#pragma once

#include <limits>

namespace opbench {

/// float values, which are exact in double too.
inline constexpr float kInf = std::numeric_limits<float>::infinity();
inline constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

}  // namespace opbench
