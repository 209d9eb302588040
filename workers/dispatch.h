#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>

#include "workers/ranks.h"

namespace opbench {

/// What a rank makes of a unit: bytes of the caller's choice, from bytes of the caller's choice.
/// May throw; the dispatch then ends with that error.
using UnitWork = std::function<std::string(std::string_view unit)>;

/// Units that wait for a rank: the one with the largest expected cost first, of equal ones the
/// first that was added.
class UnitQueue {
 public:
  /// `seconds`: expected of one rank. Only their proportions matter: units that then take some
  /// milliseconds or less are handed out many at a time. Returns the unit's number: 0, 1, ...
  std::size_t add(std::string unit, double seconds);

  std::size_t added() const { return added_; }
  bool is_empty() const { return waiting_.empty(); }
  double seconds() const { return seconds_; }  ///< of all that wait

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

/// How a unit went.
struct UnitOutcome {
  double seconds = 0;
  std::string error;  ///< what it threw; empty: nothing
};

/// Does a unit, and returns its result. Throws nothing.
std::string do_unit(const UnitWork& work, std::string_view unit, UnitOutcome& outcome);

/// On all other ranks, as often as rank 0 dispatches: does the units that it is handed. Returns
/// true once rank 0's dispatch has ended; false if rank 0 is about to leave, so that there is
/// nothing more to do. Errors: throws RunError if rank 0 is lost.
bool serve(Ranks& ranks, std::string_view plan, const UnitWork& work);

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
};

/// On rank 0: has all units of the queue done, some by rank 0 itself, in a thread of its own.
/// `plan` says what was planned (a digest): ranks that planned something else are an error. Errors:
/// throws what `work` threw here; RunError with the message and the rank of what it threw
/// elsewhere; RunError if a rank is lost; what `done` throws.
DispatchState dispatch(Ranks& ranks, std::string_view plan, UnitQueue& units, const UnitWork& work,
                       const DispatchHooks& hooks);

}  // namespace opbench
