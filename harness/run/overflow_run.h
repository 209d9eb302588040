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
  std::string op, seq;    ///< as a dump of the run has them
  std::string place;      ///< the case or context, its variant or step, and the node
  bool has_flag = false;  ///< fp16 arithmetic saturated: it computed Inf or NaN
  NewValues found;        ///< and what its outputs hold, that its inputs did not
  std::int64_t elements = 0;
};

struct OverflowRun {
  std::int64_t operators = 0;  ///< that ran
  std::vector<RunOverflow> found;
  std::vector<std::string> errors;  ///< what could not run, and why
};

/// What happens meanwhile; all but `dump` must be there.
struct OverflowHooks {
  std::function<void(std::size_t done, std::size_t all)> progress;
  std::function<void(const RunOverflow&)> found;  ///< as soon as it is known
  DumpWriter* dump = nullptr;                     ///< takes what overflowed, and nothing else
};

/// Runs every variant or step of every unit once, node by node, on its own values, in fp16
/// arithmetic without Inf and NaN (Ascend 910A), and looks at each node. Loss scales are not
/// searched. Nodes are numbered over the whole run, whether or not they overflow; calls of a dump
/// have their own numbers.
OverflowRun run_for_overflow(std::span<const WorkUnit> units, int threads,
                             const OverflowHooks& hooks);

}  // namespace opbench
