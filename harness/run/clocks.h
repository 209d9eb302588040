#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "kernels/kernel.h"

namespace opbench {

/// Clocks of the cores that this process may use, from the files of the Linux kernel. Virtual
/// machines have none.
class CoreClocks {
 public:
  /// `folder`: of the cores, with cpu0/cpufreq/scaling_cur_freq and
  /// cpu0/thermal_throttle/core_throttle_count.
  explicit CoreClocks(const std::filesystem::path& folder = "/sys/devices/system/cpu");

  /// The highest clock of a core, because idle cores are slower; 0: not reported.
  double mhz() const;
  /// How often the cores and their packages were throttled since the system started.
  std::int64_t throttle_count() const;

 private:
  std::vector<std::filesystem::path> clocks_, counts_;
};

/// The clock of the processor or device that runs a kernel.
class KernelClock {
 public:
  explicit KernelClock(const Kernel& kernel) : kernel_(kernel) {}

  /// Present clock; 0: not reported.
  double mhz();
  /// True if the clock was reduced since the last call. A device is asked for the present only.
  bool was_throttled();
  /// Reasons in the words of the device; empty: none, or not a device.
  const std::string& reasons() const { return reasons_; }

 private:
  const Kernel& kernel_;
  CoreClocks cores_;
  std::int64_t count_ = 0;
  std::string reasons_;
};

}  // namespace opbench
