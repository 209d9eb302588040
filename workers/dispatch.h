#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>

#include "workers/units.h"

namespace opbench {

/// How far a dispatch is.
struct DispatchState {
  std::size_t done = 0, added = 0;
  int workers = 1;          ///< ranks that do units
  int idle = 0;             ///< of them, that have none
  double busy_seconds = 0;  ///< sum over the units that are done
  double wall_seconds = 0;
  std::size_t slowest_unit = 0;  ///< of those that are done
  double slowest_seconds = 0;
};

/// What rank 0 does while the others work. All are called by the thread that called `dispatch`.
struct DispatchHooks {
  /// A unit's result, in the order in which they arrive; may add units to the queue.
  std::function<void(std::size_t unit, std::string result)> done = {};
  /// Called some times a second.
  std::function<void(const DispatchState&)> progress = {};
  /// Once true no further unit is handed out; those that are begun are waited for.
  std::function<bool()> stop = {};
  /// Rank 0 does units itself, too, in a thread of its own. It always does if it is the only rank.
  bool does_first_work = true;
};

/// On rank 0: has all units of the queue done. `plan` says what was planned (a digest): ranks that
/// planned something else are an error. Errors: throws what `work` threw here; RunError with the
/// message and the rank of what it threw elsewhere; RunError if a rank is lost; what `done` throws.
DispatchState dispatch(Ranks& ranks, std::string_view plan, UnitQueue& units, const UnitWork& work,
                       const DispatchHooks& hooks);

}  // namespace opbench
