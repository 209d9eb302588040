#include "harness/check/sampler.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <utility>
#include <vector>

#include "harness/run/call_watch.h"
#include "harness/run/timing.h"
#include "kernels/call_clock.h"
#include "tensor/error.h"
#include "workers/elapsed.h"
#include "workers/interrupt.h"

namespace opbench::check {
namespace {

using Clock = std::chrono::steady_clock;

// Short batches: on a busy machine a time slice of a process is 3 ms, and most batches must fit
// into one.
constexpr int kMostBatches = 20, kLeastBatches = 3;
// A longer call is a sample by itself. The median is taken over the rounds.
constexpr double kLongCallSeconds = 0.05;
constexpr double kWarmUpSeconds = 0.001;

}  // namespace

ShortSampler::ShortSampler(std::function<void()> call, Options options)
    : call_(std::move(call)), options_(std::move(options)) {
  calibrate();
  if (options_.watch != nullptr) options_.watch->restore();
}

double ShortSampler::batch_seconds(std::int64_t calls) const {
  if (options_.evict) options_.evict();
  if (options_.watch != nullptr) return watched_seconds(calls);
  const CallClock clock;
  for (std::int64_t i = 0; i < calls && !interrupted(); ++i) call_();
  return clock.seconds();
}

double ShortSampler::watched_seconds(std::int64_t calls) const {
  CallWatch& watch = *options_.watch;
  watch.begin(calls);
  const CallClock clock;
  for (std::int64_t i = 0; i < calls && !interrupted(); ++i) {
    watch.before();
    call_();
    if (watch.after(call_)) continue;
    watch.restore();
    throw Error(watch.missed());
  }
  return clock.seconds();
}

void ShortSampler::calibrate() {
  batch_seconds(1);  // loads the pages of code and data
  std::int64_t calls = 1;
  double seconds = batch_seconds(calls);
  while (!options_.evict && seconds < options_.seconds / 10 && calls < (std::int64_t{1} << 40)) {
    calls *= 2;
    seconds = batch_seconds(calls);
    if (interrupted()) return;
  }
  const double call_seconds = std::max(seconds / static_cast<double>(calls), 1e-10);
  const double fitting = options_.seconds / call_seconds;
  batches_ =
      call_seconds > kLongCallSeconds
          ? 1
          : static_cast<int>(std::clamp(fitting, double{kLeastBatches}, double{kMostBatches}));
  if (options_.evict) return;  // with evicted caches every call is a batch
  calls_ = std::max<std::int64_t>(1, std::llround(fitting / batches_));
  warm_up_calls_ =
      std::max<std::int64_t>(1, static_cast<std::int64_t>(kWarmUpSeconds / call_seconds));
}

double ShortSampler::sample_us() const {
  if (!options_.evict) batch_seconds(warm_up_calls_);
  std::vector<double> times;
  const Clock::time_point start = Clock::now();
  for (int i = 0; i < batches_; ++i) {
    // If other processes take the time, fewer batches suffice.
    if (i >= kLeastBatches && seconds_since(start) > options_.seconds) break;
    times.push_back(batch_seconds(calls_) * 1e6 / static_cast<double>(calls_));
  }
  if (options_.judge) options_.judge();
  if (options_.watch != nullptr) options_.watch->restore();
  return median_of(std::move(times));
}

}  // namespace opbench::check
