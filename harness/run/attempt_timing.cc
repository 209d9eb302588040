#include "harness/run/attempt_timing.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "harness/run/call_counters.h"
#include "harness/run/timing.h"
#include "tensor/parallel.h"
#include "workers/elapsed.h"
#include "workers/interrupt.h"
#include "workers/measuring_turn.h"

namespace opbench {
namespace {

// Rounds of a whole network are slow. After this many seconds no further round begins, once the
// minimum is done.
constexpr int kLeastRounds = 3;
constexpr double kLongestSeconds = 10;

void add_counts(const Counts& counts, std::optional<Counts>& sum) {
  if (sum)
    sum->add(counts);
  else
    sum = counts;
}

}  // namespace

double AttemptTiming::first_seconds() const {
  constexpr double kShare = 0.1;
  return options_.seconds_per_case * (options_.until_noise > 0 ? kShare : 1);
}

bool AttemptTiming::wants_round(const std::vector<Attempt>& attempts, int rounds,
                                double seconds) const {
  if (rounds < std::min(kLeastRounds, options_.repetitions)) return true;
  if (rounds < options_.repetitions) return seconds <= kLongestSeconds;
  const auto is_noisy = [&](const Attempt& attempt) {
    const double share = seconds / static_cast<double>(attempts.size());
    return attempt.is_open && samples_to_add(attempt.samples, share) > 0;
  };
  return std::any_of(attempts.begin(), attempts.end(), is_noisy);
}

// Further samples that the noise needs. Their number grows by half each time, because an interval
// that is tested often is too narrow by chance. `passed`: seconds since the first sample, of
// which emptying caches and copying tensors may take most.
int AttemptTiming::samples_to_add(std::span<const Sample> samples, double passed) const {
  constexpr std::size_t kLeast = 3, kMost = 10'000;  // the most that --repetitions allows
  constexpr double kPassed = 10;                     // times the time of the samples
  if (samples.size() >= kMost || noise_of(samples) <= options_.until_noise) return 0;
  double measured = 0;
  for (const Sample& sample : samples) measured += sample.duration_us * 1e-6;
  const double spent = std::max(measured, passed / kPassed);
  if (spent >= options_.seconds_per_case) return 0;
  const double each = std::max(spent / static_cast<double>(samples.size()), 1e-9);
  const double room = (options_.seconds_per_case - spent) / each;
  const auto wanted = static_cast<double>(std::max(kLeast, samples.size() / 2));
  return static_cast<int>(std::max(1.0, std::min(wanted, room)));
}

void AttemptTiming::take(Attempt& attempt, int repetitions, int round) {
  TimingOptions how{first_seconds() * repetitions / options_.repetitions, repetitions, {}, nullptr};
  how.warm_up = &attempt.warm_up;
  how.retaken = &attempt.retaken;
  const Kernel& kernel = *open_.unit().selection(attempt.index).kernels.front();
  if (!attempt.clock) {
    attempt.clock.emplace(kernel);
    attempt.clock_before_mhz = attempt.clock->mhz();
  }
  how.was_throttled = [&] { return attempt.clock->was_throttled(); };
  if (!open_.unit().is_context()) how.before_sample = [&] { open_.rotate(); };
  if (options_.until_noise > 0 && !open_.unit().is_context()) {
    how.more = [this, start = std::chrono::steady_clock::now()](std::span<const Sample> samples) {
      return samples_to_add(samples, seconds_since(start));
    };
  }
  if (options_.cold) how.evict = [&] { open_.evict(attempt.index); };
  // A context is timed in rounds, each with values of its own.
  attempt.values = {open_.unit().seed + 1 + static_cast<std::uint64_t>(round)};
  if (options_.verify)
    how.watch = &open_.begin_timing(attempt.index, attempt.values.seed);
  else
    open_.load(attempt.index, attempt.values);
  std::optional<CallCounters> counters;
  if (options_.counters && !kernel.origin.is_outside()) {
    how.counters = &counters.emplace(!options_.cold);
  }
  std::vector<Sample> samples;
  {
    const MeasuringTurn turn(hooks_.turns);
    const PhaseTimer timer(times_.measure);
    with_threads(threads_, [&] { samples = samples_of(attempt, how); });
  }
  if (counters && !samples.empty()) add_counts(counters->total(), attempt.counts);
  attempt.clock_after_mhz = attempt.clock->mhz();
  attempt.samples.insert(attempt.samples.end(), samples.begin(), samples.end());
  const bool is_judged = options_.verify && !interrupted();
  if (is_judged) attempt.take_verdict(open_.end_timing(attempt.index));
}

// Only tasks of contexts are timed, because a clock between two calls costs time.
std::vector<Sample> AttemptTiming::samples_of(Attempt& attempt, const TimingOptions& how) const {
  const BoundGraph& bound = open_.bound(attempt.index);
  if (!open_.unit().is_context()) return time_calls(open_.unit().id, how, [&] { bound.run(); });
  NodeTimes nodes;
  nodes.reset(bound.size());
  std::vector<Sample> samples = time_calls(open_.unit().id, how, [&] { bound.run(nodes); });
  if (samples.empty()) return samples;
  for (double& us : nodes.us) us /= static_cast<double>(nodes.runs);
  attempt.rounds.push_back(std::move(nodes.us));
  return samples;
}

// The first call is that of the verification, if there is one.
void AttemptTiming::add_conditions(Attempt& attempt) const {
  if (!attempt.record.times) return;
  Times& times = *attempt.record.times;
  times.noise_limit_percent = 100 * options_.until_noise;
  times.clock_before_mhz = attempt.clock_before_mhz;
  times.clock_after_mhz = attempt.clock_after_mhz;
  times.retaken = attempt.retaken;
  times.throttled_by = attempt.clock->reasons();
  times.warm_up = attempt.warm_up;
  if (attempt.counts) times.counts = attempt.counts->per_call();
  if (!options_.verify || !open_.is_prepared(attempt.index)) return;
  const double first_us = open_.bound(attempt.index).first_call_us();
  if (first_us > 0) times.warm_up.first_us = first_us;
}

}  // namespace opbench
