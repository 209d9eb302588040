#pragma once

#include <string>

#include "harness/plan/graph.h"

namespace opbench {

/// What a profiler would call a task: the device operator that the kernel stands for ("Conv2D",
/// "GatherV2"), "contiguous" for the framework's copies of views, else the operator's name.
std::string task_type(const Node& node, const Kernel& kernel);

/// True for tasks that make a view dense: copies that a rewrite would spare.
bool is_copy(const Node& node, const Kernel& kernel);

}  // namespace opbench
