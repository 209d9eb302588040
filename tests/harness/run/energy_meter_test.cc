#include "harness/run/energy_meter.h"

#include <gmock/gmock.h>
#include <linux/perf_event.h>

#include <chrono>
#include <fstream>
#include <string>

namespace opbench {
namespace {

namespace fs = std::filesystem;

void write(const fs::path& file, const std::string& text) {
  fs::create_directories(file.parent_path());
  std::ofstream(file) << text;
}

fs::path empty_folder(const std::string& name) {
  const fs::path folder = fs::path(testing::TempDir()) / name;
  fs::remove_all(folder);
  return folder;
}

}  // namespace

TEST(EnergyMeter, AddsPackagesAndTheirWrapAround) {
  const fs::path system = empty_folder("energy_zones");
  EXPECT_THAT(EnergyMeter(system).refusal(), testing::HasSubstr("no energy counters"));
  const fs::path zones = system / "class/powercap";
  for (const auto& [zone, name, energy] : {std::tuple{"intel-rapl:0", "package-0", "1000000\n"},
                                           std::tuple{"intel-rapl:1", "package-1", "9500000\n"},
                                           std::tuple{"intel-rapl:0:0", "core", "500000\n"},
                                           std::tuple{"intel-rapl:2", "psys", "70000000\n"}}) {
    write(zones / zone / "name", name);
    write(zones / zone / "energy_uj", energy);
    write(zones / zone / "max_energy_range_uj", "10000000\n");
  }
  EnergyMeter meter(system);
  ASSERT_TRUE(meter.is_available());
  EXPECT_EQ(meter.take(), 0);
  write(zones / "intel-rapl:0/energy_uj", "3000000\n");
  write(zones / "intel-rapl:1/energy_uj", "250000\n");  // through 10 J
  write(zones / "intel-rapl:0:0/energy_uj", "900000\n");
  EXPECT_DOUBLE_EQ(meter.take(), 2 + 0.75);
  EXPECT_EQ(meter.take(), 0);
}

// A folder whose power/energy-pkg/ is the clock of core 0, with 2 J each second.
TEST(EnergyMeter, ReadsPerfsEventWithoutPowercap) {
  const fs::path system = empty_folder("energy_event");
  const fs::path device = system / "bus/event_source/devices/power";
  write(device / "type", std::to_string(PERF_TYPE_SOFTWARE));
  write(device / "cpumask", "0\n");
  write(device / "events/energy-pkg", "event=0x00\n");
  write(device / "events/energy-pkg.scale", "2e-9\n");
  const auto start = std::chrono::steady_clock::now();
  EnergyMeter meter(system);
  if (!meter.is_available()) {
    EXPECT_THAT(meter.refusal(), testing::HasSubstr("perf_event"));
    return;
  }
  volatile double work = 1;
  for (int i = 0; i < 100'000; ++i) work = work * 1.000001;
  const double joules = meter.take();
  const std::chrono::duration<double> passed = std::chrono::steady_clock::now() - start;
  EXPECT_GT(joules, 0);
  EXPECT_LE(joules, 2 * passed.count());
}

}  // namespace opbench
