#include "harness/run/energy_meter.h"

#include <fmt/format.h>

#include <cerrno>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <sstream>

#include "harness/run/system_file.h"

namespace opbench {
namespace {

namespace fs = std::filesystem;

// The numbers of "0,18" and "0-1".
std::vector<int> numbers_in(const std::string& list) {
  std::vector<int> numbers;
  std::istringstream in(list);
  for (std::string range; std::getline(in, range, ',');) {
    const std::size_t dash = range.find('-');
    const int first = std::atoi(range.c_str());
    const int last = dash == std::string::npos ? first : std::atoi(range.c_str() + dash + 1);
    for (int number = first; number <= last; ++number) numbers.push_back(number);
  }
  return numbers;
}

}  // namespace

fs::path EnergyMeter::folder() {
  const char* given = std::getenv("OPBENCH_SYS");
  return given != nullptr ? given : "/sys";
}

EnergyMeter::EnergyMeter(const fs::path& system) {
  find_zones(system / "class/powercap");
  if (zones_.empty()) open_event(system / "bus/event_source/devices/power");
  if (is_available()) refusal_.clear();
}

// Zones of packages. Those of cores and of memory are parts of them, or of the whole platform.
void EnergyMeter::find_zones(const fs::path& powercap) {
  refusal_ = "this kernel has no energy counters (RAPL)";
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(powercap, error)) {
    const auto name = value_in<std::string>(entry.path() / "name");
    if (!name || !name->starts_with("package")) continue;
    const auto energy = value_in<double>(entry.path() / "energy_uj");
    if (!energy) {
      refusal_ = fmt::format("cannot read {}: {}; run as root",
                             (entry.path() / "energy_uj").string(), std::strerror(errno));
      zones_.clear();
      return;
    }
    const auto range = value_in<double>(entry.path() / "max_energy_range_uj");
    zones_.push_back({entry.path() / "energy_uj", range.value_or(0), *energy});
  }
}

// The files are those that perf(1) reads: "event=0x02", a scale in joules, a core of each package.
void EnergyMeter::open_event(const fs::path& device) {
  constexpr std::string_view kEvent = "event=0x";
  const auto type = value_in<std::uint32_t>(device / "type");
  const auto event = value_in<std::string>(device / "events/energy-pkg");
  const auto scale = value_in<double>(device / "events/energy-pkg.scale");
  if (!type || !event || !scale || !event->starts_with(kEvent)) return;
  PerfKind kind{*type, 0, true};
  std::from_chars(event->data() + kEvent.size(), event->data() + event->size(), kind.config, 16);
  const auto cores = numbers_in(value_in<std::string>(device / "cpumask").value_or("0"));
  PerfEvent opened = PerfEvent::of_cores(kind, cores);
  if (!opened.is_open()) {
    refusal_ = perf_refusal(opened.error(), perf_paranoid_level(), 0);
    return;
  }
  event_.emplace(std::move(opened));
  event_->take();
  joules_per_count_ = *scale;
}

double EnergyMeter::take() {
  if (event_) return event_->take() * joules_per_count_;
  double joules = 0;
  for (Zone& zone : zones_) {
    const double now = value_in<double>(zone.energy).value_or(zone.last_uj);
    joules += (now - zone.last_uj + (now < zone.last_uj ? zone.range_uj : 0)) * 1e-6;
    zone.last_uj = now;
  }
  return joules;
}

}  // namespace opbench
