#include <algorithm>

#include "harness/run/unit_plan.h"

namespace opbench::units {
namespace {

// Rates of a machine as there are many: only what units cost against each other counts, and that
// large ones come first.
constexpr double kBytesPerSecond = 5e9;
constexpr double kOperationsPerSecond = 1e10;
// Filling, the fp64 reference and its comparison, by byte and operation of the graph.
constexpr double kVerifiedBytesPerSecond = 2e8;
constexpr double kVerifiedOperationsPerSecond = 1e9;
constexpr double kSecondsPerVariant = 1e-3;
// A race of several ways to move the bytes precedes the variants of a case.
constexpr double kCopyShare = 1.5;

struct Work {
  double bytes = 0, operations = 0;

  explicit Work(const Traffic& traffic) : bytes(traffic.bytes()), operations(traffic.operations) {}
  double call() const { return bytes / kBytesPerSecond + operations / kOperationsPerSecond; }
  double verification() const {
    return bytes / kVerifiedBytesPerSecond + operations / kVerifiedOperationsPerSecond;
  }
};

double times_of_threads(double seconds, const RunOptions& options) {
  return seconds * static_cast<double>(std::max<std::size_t>(options.threads.size(), 1));
}

// At least a call a repetition, however short the time.
double measured(const Work& work, const RunOptions& options) {
  if (!options.times) return 0;
  return std::max(options.seconds_per_case, options.repetitions * work.call());
}

}  // namespace

double expected_seconds(const PlannedCase& planned, const RunOptions& options) {
  const Work work(planned.graph.traffic());
  double seconds = measured(work, options) * kCopyShare;
  for (const Selection& selection : planned.variants) {
    if (!selection.refusal.empty()) continue;
    seconds += kSecondsPerVariant + measured(work, options);
    if (options.verify) seconds += 2 * work.verification();
  }
  return times_of_threads(seconds, options);
}

double expected_seconds(const PlannedContext& planned, const RunOptions& options) {
  double seconds = 0;
  for (const PlannedStep& step : planned.steps) {
    if (!step.refusal().empty()) continue;
    const Work work(step.graph.traffic());
    seconds += kSecondsPerVariant + measured(work, options);
    if (options.verify) seconds += 2 * work.verification();
  }
  return times_of_threads(seconds, options);
}

}  // namespace opbench::units
