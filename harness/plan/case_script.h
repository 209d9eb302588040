#pragma once

#include <string>

#include "harness/plan/case.h"

namespace opbench {

/// A Python script that times the case with PyTorch on a CPU, a GPU or an NPU, and needs nothing of
/// opbench. `command` is the command line that writes it.
/// Errors: throws Error if torch has no expression for the operator, or if the data of an input has
/// no short form in Python.
std::string case_script(const Case& c, const std::string& command);

}  // namespace opbench
