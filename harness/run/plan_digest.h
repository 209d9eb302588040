#pragma once

#include <string>

#include "harness/run/unit_plan.h"

namespace opbench::units {

/// Of a plan whose units, cases and contexts are there; see UnitPlan.
std::string plan_digest(const UnitPlan& plan, const RunOptions& options, const std::string& isa);

}  // namespace opbench::units
