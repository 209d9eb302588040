#pragma once

#include <string>
#include <string_view>

#include "workers/dispatch.h"

namespace opbench {

/// How a unit went.
struct UnitOutcome {
  double seconds = 0;
  std::string error;  ///< what it threw; empty: nothing
};

/// Does a unit, and returns its result. Throws nothing.
std::string do_unit(const UnitWork& work, std::string_view unit, UnitOutcome& outcome);

}  // namespace opbench
