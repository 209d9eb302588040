#include "harness/run/clocks.h"

#include <fmt/format.h>
#include <sched.h>

#include <algorithm>

#include "harness/run/system_file.h"
#include "kernels/foreign/foreign_kernels.h"

namespace opbench {
namespace {

namespace fs = std::filesystem;

void add_if_there(const fs::path& file, std::vector<fs::path>& files) {
  std::error_code error;
  if (fs::exists(file, error)) files.push_back(file);
}

}  // namespace

CoreClocks::CoreClocks(const fs::path& folder) {
  cpu_set_t allowed;
  CPU_ZERO(&allowed);
  if (sched_getaffinity(0, sizeof allowed, &allowed) != 0) return;
  for (std::size_t core = 0; core < CPU_SETSIZE; ++core) {
    if (!CPU_ISSET(core, &allowed)) continue;
    const fs::path of_core = folder / fmt::format("cpu{}", core);
    add_if_there(of_core / "cpufreq/scaling_cur_freq", clocks_);
    add_if_there(of_core / "thermal_throttle/core_throttle_count", counts_);
    add_if_there(of_core / "thermal_throttle/package_throttle_count", counts_);
  }
}

double CoreClocks::mhz() const {
  double highest = 0;  // the files have kHz
  for (const fs::path& file : clocks_)
    highest = std::max(highest, value_in<double>(file).value_or(0));
  return highest / 1e3;
}

std::int64_t CoreClocks::throttle_count() const {
  std::int64_t count = 0;
  for (const fs::path& file : counts_)
    count += static_cast<std::int64_t>(value_in<double>(file).value_or(0));
  return count;
}

double KernelClock::mhz() {
  return kernel_.origin.is_device ? device_clock(kernel_).mhz : cores_.mhz();
}

bool KernelClock::was_throttled() {
  if (kernel_.origin.is_device) {
    const DeviceClock clock = device_clock(kernel_);
    if (!clock.throttled_by.empty()) reasons_ = clock.throttled_by;
    return !clock.throttled_by.empty();
  }
  const std::int64_t before = count_;
  count_ = cores_.throttle_count();
  return count_ > before;
}

}  // namespace opbench
