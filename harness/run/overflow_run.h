#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "harness/plan/work_unit.h"
#include "harness/run/value_range.h"

namespace opbench {

class DumpWriter;

/// A node that overflowed while it ran.
struct RunOverflow {
  std::string op, seq;    ///< like in a dump of the run
  std::string place;      ///< the case or context, its variant or step, and the node
  bool has_flag = false;  ///< fp16 arithmetic saturated: it computed Inf or NaN
  NewValues found;        ///< values of its outputs that its inputs do not have
  std::int64_t elements = 0;
};

struct OverflowRun {
  std::int64_t operators = 0;  ///< number of operators that ran
  std::vector<RunOverflow> found;
  std::vector<std::string> errors;  ///< units that could not run, with the reason
};

/// Callbacks during the run. All but `dump` are required.
struct OverflowHooks {
  std::function<void(std::size_t done, std::size_t all)> progress;
  std::function<void(const RunOverflow&)> found;  ///< called immediately
  DumpWriter* dump = nullptr;                     ///< receives only nodes that overflowed
};

/// Runs every variant or step of every unit once, node by node, on its own values, in fp16
/// arithmetic without Inf and NaN (Ascend 910A). Checks each node for overflow. Loss scales are not
/// searched. Nodes are numbered over the whole run, even if they do not overflow. Calls of a dump
/// keep their own numbers.
OverflowRun run_for_overflow(std::span<const WorkUnit> units, int threads,
                             const OverflowHooks& hooks);

}  // namespace opbench
