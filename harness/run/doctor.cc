#include "harness/run/doctor.h"

#include <fmt/format.h>

#include <algorithm>

#include "harness/run/clocks.h"
#include "harness/run/machine_rates.h"
#include "tensor/parallel.h"
#include "tensor/processor.h"
#include "text/fitted.h"

namespace opbench {
namespace {

// Noise above this share hides a regression of a few percent.
constexpr double kNoiseLimit = 0.10;

Ceilings measure(int threads, std::size_t bytes) {
  Ceilings result;
  result.threads = threads;
  result.bytes = bytes;
  const CopyRate copy =
      measure_copy_rate({bytes / 2, bytes - bytes / 2}, threads, {0.75, 15, {}, nullptr}, false);
  result.gb_per_s = copy.median / 1e9;
  result.cv = copy.cv;
  result.way = copy.way;
  result.gflop_per_s = peak_operations_per_second(DType::fp32, threads) / 1e9;
  with_threads(threads, [&] { result.streams_from = streaming_size(); });
  return result;
}

void find_settings(const Machine& m, std::vector<std::string>& findings) {
  if (m.build_type != "Release") {
    findings.push_back(fmt::format("this is a {} build; measure with Release", m.build_type));
  }
  if (m.governor != "performance" && m.governor != "unknown") {
    findings.push_back(fmt::format(
        "governor '{}'; set it with: sudo cpupower frequency-set -g performance", m.governor));
  }
  if (const std::int64_t count = CoreClocks().throttle_count(); count > 0) {
    findings.push_back(fmt::format(
        "cores were throttled {} times since the system started; check the cooling, and "
        "the column throttled of a run",
        count));
  }
  if (m.turbo == "on")
    findings.emplace_back("turbo is on: times depend on temperature and on other cores");
  if (m.is_virtual)
    findings.emplace_back(
        "virtual machine: neighbours share caches and memory; trust ratios inside one run");
  if (m.load > 0.5) {
    findings.emplace_back(
        fmt::format("load {:.2f}: other programs run; wait until they are done", m.load));
  }
}

}  // namespace

Checkup examine(const Machine& machine) {
  Checkup checkup;
  find_settings(machine, checkup.findings);
  const std::size_t bytes = std::min(4 * std::max<std::size_t>(last_level_cache_bytes(), 64 << 20),
                                     machine.available_bytes / 4);
  checkup.ceilings.push_back(measure(1, bytes));
  if (machine.cores > 1) checkup.ceilings.push_back(measure(machine.cores, bytes));
  for (const Ceilings& b : checkup.ceilings) {
    if (b.cv <= kNoiseLimit) continue;
    checkup.is_too_noisy = true;
    checkup.findings.push_back(
        fmt::format("copy with {} varies by {:.0f}% (limit {:.0f}%); "
                    "find what else runs and try again",
                    counted(b.threads, "thread"), 100 * b.cv, 100 * kNoiseLimit));
  }
  return checkup;
}

}  // namespace opbench
