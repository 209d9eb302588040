#pragma once

#include <span>
#include <vector>

#include "harness/run/attempt.h"
#include "harness/run/open_unit.h"
#include "harness/run/runner.h"
#include "harness/run/timing.h"

namespace opbench {

/// Takes the samples of a unit's variants on `threads` threads. It refers to its arguments.
class AttemptTiming {
 public:
  AttemptTiming(OpenUnit& open, const RunOptions& options, int threads, const RunHooks& hooks,
                PhaseTimes& times)
      : open_(open), options_(options), threads_(threads), hooks_(hooks), times_(times) {}

  /// Seconds of the first `repetitions` samples. Others follow until the noise is small.
  double first_seconds() const;

  /// True if a context needs a round after `rounds`, which took `seconds`.
  bool wants_round(const std::vector<Attempt>& attempts, int rounds, double seconds) const;

  /// Adds `repetitions` samples; none if interrupted. It uses new values, so that results that a
  /// kernel has cached in verification are wrong. A context is timed in rounds.
  void take(Attempt& attempt, int repetitions, int round);

  /// Records under which conditions the samples were taken: clock, warm-up, noise.
  void add_conditions(Attempt& attempt) const;

 private:
  int samples_to_add(std::span<const Sample> samples, double passed) const;
  std::vector<Sample> samples_of(Attempt& attempt, const TimingOptions& how) const;

  OpenUnit& open_;
  const RunOptions& options_;
  const int threads_;
  const RunHooks& hooks_;
  PhaseTimes& times_;
};

}  // namespace opbench
