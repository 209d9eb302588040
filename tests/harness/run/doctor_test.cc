#include "harness/run/doctor.h"

#include <gmock/gmock.h>

namespace opbench {

// Copies little memory; the rates do not matter here.
TEST(Doctor, FindsWhatStandsInTheWay) {
  Machine machine;
  machine.cores = 2;
  machine.available_bytes = 4 << 20;
  machine.build_type = "Debug";
  machine.governor = "powersave";
  machine.turbo = "on";
  machine.is_virtual = true;
  machine.load = 1.25;
  const Checkup checkup = examine(machine);
  ASSERT_GE(checkup.findings.size(), 5u);
  EXPECT_EQ(checkup.findings[0], "this is a Debug build; measure with Release");
  EXPECT_EQ(checkup.findings[1],
            "governor 'powersave'; set it with: sudo cpupower frequency-set -g performance");
  EXPECT_EQ(checkup.findings[2], "turbo is on: times depend on temperature and on other cores");
  EXPECT_EQ(checkup.findings[3],
            "virtual machine: neighbours share caches and memory; trust ratios inside one run");
  EXPECT_EQ(checkup.findings[4], "load 1.25: other programs run; wait until they are done");
  EXPECT_EQ(checkup.findings.size() > 5, checkup.is_too_noisy);
  ASSERT_EQ(checkup.ceilings.size(), 2u) << "one thread, then all cores";
  for (const Ceilings& ceilings : checkup.ceilings) {
    EXPECT_EQ(ceilings.bytes, std::size_t{1} << 20) << "a quarter of what is free";
    EXPECT_GT(ceilings.gb_per_s, 0);
    EXPECT_NE(ceilings.way, "");
    EXPECT_GT(ceilings.gflop_per_s, 0);
  }
}

}  // namespace opbench
