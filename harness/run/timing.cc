#include "harness/run/timing.h"

#include <benchmark/benchmark.h>
#include <hwy/cache_control.h>
#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <cmath>

#include "harness/run/call_counters.h"
#include "harness/run/call_watch.h"
#include "kernels/call_clock.h"
#include "workers/interrupt.h"

namespace opbench {
namespace {

using Clock = std::chrono::steady_clock;

// The first call sets the origin: times of trace events must not be negative.
double micros_since_start(Clock::time_point time) {
  static const Clock::time_point start = time;
  return std::chrono::duration<double, std::micro>(time - start).count();
}

// Involuntary context switches of all threads of the process.
std::int64_t involuntary_switches() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return usage.ru_nivcsw;
}

/// Collects no samples, because the loop itself takes them. Reports only if a run failed.
class SilentReporter : public benchmark::BenchmarkReporter {
 public:
  bool ReportContext(const Context&) override { return true; }
  void ReportRuns(const std::vector<Run>&) override {}
};

void start_counting(const TimingOptions& options) {
  if (options.counters != nullptr) options.counters->start();
}

void stop_counting(const TimingOptions& options) {
  if (options.counters != nullptr) options.counters->stop();
}

void hot_loop(benchmark::State& state, const std::function<void()>& call) {
  for (auto _ : state) {
    call();
    benchmark::ClobberMemory();
    if (interrupted()) {
      state.SkipWithError("interrupted");
      break;
    }
  }
}

void watched_loop(benchmark::State& state, CallWatch& watch, const std::function<void()>& call) {
  for (auto _ : state) {
    watch.before();
    call();
    benchmark::ClobberMemory();
    if (!watch.after(call) || interrupted()) {
      state.SkipWithError("interrupted");
      break;
    }
  }
}

// Returns the timed seconds.
double cold_loop(benchmark::State& state, const TimingOptions& options,
                 const std::function<void()>& call) {
  double total = 0;
  for (auto _ : state) {
    if (options.watch != nullptr) options.watch->before();
    options.evict();
    start_counting(options);
    const CallClock clock;
    call();
    const double seconds = std::max(0.0, clock.seconds());
    stop_counting(options);
    state.SetIterationTime(seconds);
    total += seconds;
    const bool is_call = options.watch == nullptr || options.watch->after(call);
    if (!is_call || interrupted()) {
      state.SkipWithError("interrupted");
      break;
    }
  }
  return total;
}

// One repetition, or one of the shorter runs that the engine uses to find the number of iterations.
Sample run_once(benchmark::State& state, const TimingOptions& options,
                const std::function<void()>& call) {
  if (options.before_sample) options.before_sample();
  if (options.watch != nullptr) {
    options.watch->refill();
    options.watch->begin(state.max_iterations);
  }
  if (options.counters != nullptr) options.counters->begin_sample();
  const std::int64_t preemptions = involuntary_switches();
  if (!options.evict) start_counting(options);
  const CallClock clock;
  double seconds = 0;
  if (options.evict) {
    seconds = cold_loop(state, options, call);
  } else {
    if (options.watch != nullptr)
      watched_loop(state, *options.watch, call);
    else
      hot_loop(state, call);
    seconds = clock.seconds();
    stop_counting(options);
  }
  if (options.watch != nullptr) options.watch->note();
  const auto iterations = static_cast<std::int64_t>(state.iterations());
  if (options.counters != nullptr) options.counters->end_sample(iterations);
  const double calls = iterations == 0 ? HUGE_VAL : static_cast<double>(iterations);
  return {micros_since_start(clock.start()),
          seconds * 1e6,
          seconds * 1e9 / calls,
          iterations,
          involuntary_switches() - preemptions,
          clock.launch_seconds() * 1e9 / calls,
          options.was_throttled && options.was_throttled()};
}

bool is_stopped(const TimingOptions& options) {
  return interrupted() || (options.watch != nullptr && !options.watch->missed().empty());
}

// Takes `count` samples of `iterations` calls; 0: the engine searches their number in runs before
// these samples, which are returned too.
std::vector<Sample> take_batch(const std::string& name, const TimingOptions& options, int count,
                               std::int64_t iterations, const std::function<void()>& call) {
  std::vector<Sample> samples;
  auto* registered = benchmark::RegisterBenchmark(name.c_str(), [&](benchmark::State& state) {
    if (options.watch != nullptr && !options.watch->missed().empty()) {
      state.SkipWithError("a call skipped work");
      return;
    }
    samples.push_back(run_once(state, options, call));
  });
  if (iterations > 0)
    registered->Iterations(iterations);
  else
    registered->MinTime(std::max(1e-6, options.seconds / options.repetitions));
  registered->Repetitions(count);
  if (options.evict)
    registered->UseManualTime();
  else
    registered->UseRealTime();
  SilentReporter reporter;
  benchmark::RunSpecifiedBenchmarks(&reporter, "all");
  benchmark::ClearRegisteredBenchmarks();
  return samples;
}

void drop_counts(const TimingOptions& options, std::ptrdiff_t first, std::size_t count) {
  if (options.counters != nullptr) options.counters->drop(static_cast<std::size_t>(first), count);
}

// Replaces samples that ran at a reduced clock. If the clock stays reduced, they are kept.
void retake_throttled(const std::string& name, const TimingOptions& options,
                      const std::function<void()>& call, std::vector<Sample>& samples) {
  const auto is_throttled = [](const Sample& sample) { return sample.is_throttled; };
  int left = options.repetitions;
  while (left > 0 && !is_stopped(options)) {
    const auto first = std::find_if(samples.begin(), samples.end(), is_throttled);
    if (first == samples.end()) return;
    const auto more = take_batch(name, options, 1, samples.back().iterations, call);
    --left;
    if (options.retaken != nullptr) ++*options.retaken;
    if (more.size() != 1 || more.front().is_throttled) {
      drop_counts(options, std::ssize(samples), more.size());
      continue;
    }
    drop_counts(options, first - samples.begin(), 1);
    samples.erase(first);
    samples.push_back(more.front());
  }
}

// The engine begins with one call.
void add_warm_up(std::span<const Sample> runs, WarmUp& warm_up) {
  for (const Sample& run : runs) {
    if (warm_up.calls == 0) warm_up.first_us = run.ns_per_call / 1e3;
    warm_up.calls += run.iterations;
    warm_up.us += run.duration_us;
  }
}

}  // namespace

std::vector<Sample> time_calls(const std::string& name, const TimingOptions& options,
                               const std::function<void()>& call) {
  if (options.was_throttled) options.was_throttled();  // forgets the time before
  std::vector<Sample> samples = take_batch(name, options, options.repetitions, 0, call);
  const auto wanted = static_cast<std::size_t>(options.repetitions);
  if (is_stopped(options) || samples.size() < wanted) return {};
  // The runs before the last repetitions searched the number of iterations; they were the warm-up.
  const auto kept = samples.end() - static_cast<std::ptrdiff_t>(wanted);
  if (options.warm_up != nullptr) add_warm_up({samples.begin(), kept}, *options.warm_up);
  drop_counts(options, 0, static_cast<std::size_t>(kept - samples.begin()));
  samples.erase(samples.begin(), kept);
  while (options.more) {
    const int count = options.more(samples);
    if (count <= 0) break;
    const auto more = take_batch(name, options, count, samples.back().iterations, call);
    if (is_stopped(options)) return {};
    samples.insert(samples.end(), more.begin(), more.end());
  }
  retake_throttled(name, options, call, samples);
  if (is_stopped(options)) return {};
  return samples;
}

double measuring_clock_us() { return micros_since_start(Clock::now()); }

void evict_from_caches(const void* data, std::size_t bytes) {
  constexpr std::size_t kLine = 64;  // bytes of a cache line
  const auto* begin = static_cast<const std::byte*>(data);
  for (std::size_t i = 0; i < bytes; i += kLine) hwy::FlushCacheline(begin + i);
  hwy::FlushStream();
}

}  // namespace opbench
