#include "harness/run/machine.h"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <hwy/highway.h>
#include <sys/utsname.h>
#include <tbb/version.h>
#include <unistd.h>

#include <Eigen/Core>
#include <chrono>
#include <fstream>
#include <nlohmann/json.hpp>

#include "dump/dump_writer.h"
#include "harness/run/cpu_name.h"
#include "harness/run/memory.h"
#include "harness/run/system_file.h"
#include "kernels/kernel.h"
#include "opbench_build_info.h"
#include "tensor/parallel.h"
#include "tensor/processor.h"

namespace opbench {
namespace {

std::string word_in(const char* path, const char* fallback) {
  return value_in<std::string>(path).value_or(fallback);
}

// The lines of the first processor: a machine with hundreds takes long to write those of all.
std::string cpuinfo_of_first() {
  std::ifstream file("/proc/cpuinfo");
  std::string text;
  for (std::string line; std::getline(file, line) && !line.empty();) text += line + '\n';
  return text;
}

// A virtual machine has this flag on x86 only.
bool is_virtual(std::string_view cpuinfo) {
  return cpuinfo_value(cpuinfo, "flags").find(" hypervisor") != cpuinfo.npos;
}

std::string turbo() {
  const std::string no_turbo = word_in("/sys/devices/system/cpu/intel_pstate/no_turbo", "");
  if (!no_turbo.empty()) return no_turbo == "0" ? "on" : "off";
  const std::string boost = word_in("/sys/devices/system/cpu/cpufreq/boost", "");
  return boost.empty() ? "unknown" : boost == "1" ? "on" : "off";
}

std::string os_name() {
  utsname info{};
  uname(&info);
  return fmt::format("{} {} {}", info.sysname, info.release, info.machine);
}

std::vector<std::pair<std::string, std::string>> libraries() {
  std::vector<std::pair<std::string, std::string>> result = {
      {"Eigen",
       fmt::format("{}.{}.{}", EIGEN_WORLD_VERSION, EIGEN_MAJOR_VERSION, EIGEN_MINOR_VERSION)},
      {"Highway", fmt::format("{}.{}.{}", HWY_MAJOR, HWY_MINOR, HWY_PATCH)},
      {"oneTBB", fmt::format("{}.{}", TBB_VERSION_MAJOR, TBB_VERSION_MINOR)},
      {"HDF5", hdf5_version()},
  };
  if (const std::string version = vendor_version(); !version.empty()) {
    result.emplace_back("oneDNN", version);
  }
  const auto text = [](const char* version) { return *version != '\0' ? version : "unknown"; };
  result.emplace_back("Google Benchmark", text(kBenchmarkVersion));
  result.emplace_back("yaml-cpp", text(kYamlCppVersion));
  result.emplace_back("nlohmann-json",
                      fmt::format("{}.{}.{}", NLOHMANN_JSON_VERSION_MAJOR,
                                  NLOHMANN_JSON_VERSION_MINOR, NLOHMANN_JSON_VERSION_PATCH));
  result.emplace_back("CLI11", text(kCli11Version));
  result.emplace_back("fmt", fmt::format("{}.{}.{}", FMT_VERSION / 10000, FMT_VERSION / 100 % 100,
                                         FMT_VERSION % 100));
  return result;
}

}  // namespace

Machine describe_machine() {
  Machine m;
  const std::string cpuinfo = cpuinfo_of_first();
  m.cpu = cpu_name(cpuinfo);
  m.cores = available_cores();
  m.l1d_bytes = cache_bytes(1);
  m.l2_bytes = cache_bytes(2);
  m.l3_bytes = cache_bytes(3);
  m.memory_bytes = static_cast<std::size_t>(sysconf(_SC_PHYS_PAGES)) *
                   static_cast<std::size_t>(sysconf(_SC_PAGE_SIZE));
  m.available_bytes = available_memory();
  m.governor = word_in("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", "unknown");
  m.turbo = turbo();
  m.is_virtual = is_virtual(cpuinfo);
  double load[1] = {0};
  if (getloadavg(load, 1) == 1) m.load = load[0];
  m.os = os_name();
  m.isa = current_isa();
  m.isas = supported_isas();
  m.version = kOpbenchVersion;
  m.revision = kOpbenchRevision;
  m.compiler = kOpbenchCompiler;
  m.flags = kOpbenchFlags;
  m.build_type = kOpbenchBuildType;
  m.libraries = libraries();
  m.date = fmt::format(
      "{:%Y-%m-%dT%H:%M:%SZ}",
      fmt::gmtime(std::chrono::system_clock::to_time_t(std::chrono::system_clock::now())));
  return m;
}

}  // namespace opbench
