#pragma once

#include <string>

#include "harness/plan/case.h"

namespace opbench {

/// ", attrs: {stride: [2,2]}" as an entry of a case file has it behind others: attributes that are
/// not at their defaults; empty where there are none.
std::string attrs_text(const Case& c);

}  // namespace opbench
