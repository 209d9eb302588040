#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "harness/run/perf_event.h"

namespace opbench {

/// Energy of the processor packages (RAPL), with everything that runs on them: from the files of
/// the powercap framework, else from perf's event power/energy-pkg/. The processor renews the
/// numbers about once a millisecond.
class EnergyMeter {
 public:
  /// `system`: the folder with class/powercap/intel-rapl:0/energy_uj and
  /// bus/event_source/devices/power/events/energy-pkg.
  explicit EnergyMeter(const std::filesystem::path& system = folder());

  /// /sys, or OPBENCH_SYS of the environment.
  static std::filesystem::path folder();

  bool is_available() const { return !zones_.empty() || event_; }
  /// Why there is no energy; empty if there is.
  const std::string& refusal() const { return refusal_; }

  /// Joules since the last call.
  double take();

 private:
  struct Zone {
    std::filesystem::path energy;
    double range_uj = 0;  ///< the number begins again at 0 after it
    double last_uj = 0;
  };

  void find_zones(const std::filesystem::path& powercap);
  void open_event(const std::filesystem::path& device);

  std::vector<Zone> zones_;
  std::optional<PerfEvent> event_;
  double joules_per_count_ = 0;
  std::string refusal_;
};

}  // namespace opbench
