#pragma once

#include <chrono>

namespace opbench {

/// Seconds in calls of kernels that run in another process or on a device. The totals of this
/// process, of which differences are used.
struct OutsideSeconds {
  double uncounted = 0;  ///< that are not part of the kernel's time: transfers, messages
  double launch = 0;     ///< of the host's time of a call beyond the device's time
};

const OutsideSeconds& outside_seconds();
void add_outside_seconds(const OutsideSeconds& seconds);

/// The next call of each such kernel begins with empty caches of its device.
void request_cold_calls();
/// True for a call after `request_cold_calls`, once.
bool takes_cold_call();

/// Number of the place in memory that tensors have now, for kernels that hold copies of them.
void choose_place(int place);
int chosen_place();

/// Measures calls of kernels. Time that is not the kernels' is not counted.
class CallClock {
 public:
  /// Seconds since the clock was made or restarted.
  double seconds() const {
    const std::chrono::duration<double> passed = Clock::now() - start_;
    return passed.count() - (outside_seconds().uncounted - outside_.uncounted);
  }
  /// Seconds in which the host launched work of a device.
  double launch_seconds() const { return outside_seconds().launch - outside_.launch; }
  std::chrono::steady_clock::time_point start() const { return start_; }

 private:
  using Clock = std::chrono::steady_clock;

  OutsideSeconds outside_ = outside_seconds();
  Clock::time_point start_ = Clock::now();
};

}  // namespace opbench
