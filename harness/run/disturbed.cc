#include "harness/run/disturbed.h"

#include <algorithm>
#include <cmath>

namespace opbench {
namespace {

// What is to be told apart needs more than two of them.
constexpr std::ptrdiff_t kLeastSamples = 3;

// Undisturbed samples of a loop agree within some percent, and the frequency of a core changes by
// less than this.
bool is_far_above_best(const Times& times) {
  constexpr double kFar = 2;
  return times.median_us > kFar * times.min_us;
}

// A thread that spins while another program holds its partner's core waits until the tick at which
// the scheduler looks again: then a call takes 4, 8, 12 ms, and as long every time.
bool is_whole_ticks(const Times& times) {
  constexpr double kTickUs = 4000;  // HZ=250, as most distributions build the kernel
  constexpr double kNearUs = 400;   // with the call itself
  const auto count = std::ssize(times.samples);
  if (times.preemptions.value_or(0) < count) return false;
  const auto whole = std::count_if(times.samples.begin(), times.samples.end(), [](const Sample& s) {
    const double us = s.ns_per_call / 1e3;
    return us > kTickUs - kNearUs && std::abs(std::remainder(us, kTickUs)) <= kNearUs;
  });
  return 4 * whole >= 3 * count;
}

}  // namespace

bool is_disturbed(const Times& times) {
  if (std::ssize(times.samples) < kLeastSamples) return false;
  return is_far_above_best(times) || is_whole_ticks(times);
}

bool is_disturbed(const Record& record) { return record.times && is_disturbed(*record.times); }

bool is_comparable(const Record& record) { return record.is_timed() && !is_disturbed(record); }

}  // namespace opbench
