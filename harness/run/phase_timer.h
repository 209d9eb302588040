#pragma once

#include <chrono>

namespace opbench {

/// Adds the time until its end to a phase, in seconds.
class PhaseTimer {
 public:
  explicit PhaseTimer(double& seconds) : seconds_(seconds) {}
  PhaseTimer(const PhaseTimer&) = delete;
  PhaseTimer& operator=(const PhaseTimer&) = delete;
  ~PhaseTimer() { seconds_ += std::chrono::duration<double>(Clock::now() - start_).count(); }

 private:
  using Clock = std::chrono::steady_clock;

  double& seconds_;
  Clock::time_point start_ = Clock::now();
};

}  // namespace opbench
