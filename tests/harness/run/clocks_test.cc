#include "harness/run/clocks.h"

#include <gtest/gtest.h>
#include <sched.h>

#include <fstream>
#include <string>

namespace opbench {
namespace {

namespace fs = std::filesystem;

// A core that this process may use.
fs::path core_of(const fs::path& folder) {
  cpu_set_t allowed;
  CPU_ZERO(&allowed);
  sched_getaffinity(0, sizeof allowed, &allowed);
  int core = 0;
  while (!CPU_ISSET(core, &allowed)) ++core;
  return folder / ("cpu" + std::to_string(core));
}

void write(const fs::path& file, const std::string& text) {
  fs::create_directories(file.parent_path());
  std::ofstream(file) << text;
}

}  // namespace

TEST(Clocks, CoresReportTheirClockAndHowOftenTheyWereThrottled) {
  const fs::path folder = fs::path(testing::TempDir()) / "clocks_test";
  fs::remove_all(folder);
  EXPECT_EQ(CoreClocks(folder).mhz(), 0);
  EXPECT_EQ(CoreClocks(folder).throttle_count(), 0);
  const fs::path core = core_of(folder);
  write(core / "cpufreq/scaling_cur_freq", "2450000\n");
  write(core / "thermal_throttle/core_throttle_count", "3\n");
  write(core / "thermal_throttle/package_throttle_count", "4\n");
  const CoreClocks clocks(folder);
  EXPECT_EQ(clocks.mhz(), 2450);
  EXPECT_EQ(clocks.throttle_count(), 7);
  write(core / "cpufreq/scaling_cur_freq", "<unknown>\n");
  EXPECT_EQ(clocks.mhz(), 0);
}

TEST(Clocks, KernelsOfThisProcessorAskIt) {
  const Kernel kernel;
  KernelClock clock(kernel);
  clock.was_throttled();
  EXPECT_EQ(clock.mhz() > 0, CoreClocks().mhz() > 0);
  EXPECT_EQ(clock.reasons(), "");
}

}  // namespace opbench
