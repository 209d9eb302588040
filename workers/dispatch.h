#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>

#include "workers/ranks.h"

namespace opbench {

/// Computes a unit on a rank. Unit and result are bytes defined by the caller. May throw; the
/// dispatch then ends with that error.
using UnitWork = std::function<std::string(std::string_view unit)>;

/// Units that wait for a rank, ordered by largest expected cost, then by insertion.
class UnitQueue {
 public:
  /// `seconds`: expected time on one rank. Only proportions matter: units that take some
  /// milliseconds or less are dispatched in batches. Returns the unit's number: 0, 1, ...
  std::size_t add(std::string unit, double seconds);

  std::size_t added() const { return added_; }
  bool is_empty() const { return waiting_.empty(); }
  double seconds() const { return seconds_; }  ///< of all waiting units

  struct Unit {
    std::size_t number = 0;
    double seconds = 0;
    std::string text;
  };
  Unit take();

 private:
  std::multimap<double, Unit, std::greater<>> waiting_;
  std::size_t added_ = 0;
  double seconds_ = 0;
};

/// Outcome of a unit.
struct UnitOutcome {
  double seconds = 0;
  std::string error;  ///< text of its exception; empty without an exception
};

/// Runs a unit and returns its result. Does not throw.
std::string do_unit(const UnitWork& work, std::string_view unit, UnitOutcome& outcome);

/// Runs units on all ranks but rank 0, once for each dispatch of rank 0. Returns true once rank 0's
/// dispatch has ended; false if rank 0 leaves and no work follows. Errors: throws RunError if rank
/// 0 is lost.
bool serve(Ranks& ranks, std::string_view plan, const UnitWork& work);

/// Progress of a dispatch.
struct DispatchState {
  std::size_t done = 0, added = 0;
  int workers = 1;          ///< ranks that run units
  int idle = 0;             ///< ranks without units
  double busy_seconds = 0;  ///< sum over the completed units
  double wall_seconds = 0;
  std::size_t slowest_unit = 0;  ///< of the completed units
  double slowest_seconds = 0;
};

/// Hooks of rank 0 during a dispatch, called by the thread that called `dispatch`.
struct DispatchHooks {
  /// Receives a unit's result, in order of arrival; may add units to the queue.
  std::function<void(std::size_t unit, std::string result)> done = {};
  /// Called a few times a second.
  std::function<void(const DispatchState&)> progress = {};
  /// Once true, no further unit is dispatched. Started units are completed.
  std::function<bool()> stop = {};
};

/// Runs all units of the queue, on rank 0 and the other ranks. Rank 0 works in a separate thread.
/// `plan` is a digest of the plan: ranks with another plan are an error. Errors: throws exceptions
/// of `work` on rank 0 unchanged; RunError with message and rank for exceptions on other ranks;
/// RunError if a rank is lost; exceptions of `done`.
DispatchState dispatch(Ranks& ranks, std::string_view plan, UnitQueue& units, const UnitWork& work,
                       const DispatchHooks& hooks);

}  // namespace opbench
