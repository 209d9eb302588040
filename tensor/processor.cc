#include "tensor/processor.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <fstream>

#include "tensor/error.h"
#include "tensor/utf8.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "tensor/processor.cc"
#include <hwy/foreach_target.h>
// This header must follow foreach_target.h.
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace opbench {
namespace HWY_NAMESPACE {

std::int64_t running_target() { return HWY_TARGET; }

}  // namespace HWY_NAMESPACE
}  // namespace opbench
HWY_AFTER_NAMESPACE();

#if HWY_ONCE

namespace opbench {
namespace {

constexpr int kLevels = 4;  // of caches; glibc has names for 4

// The bytes of a size such as "32768K"; 0 for any other text.
std::size_t size_in(const std::string& path) {
  std::ifstream file(path);
  std::size_t size = 0;
  char unit = 0;
  file >> size;
  if (!file) return 0;
  file >> unit;
  constexpr std::size_t kMost = std::size_t{1} << 40;  // 1 TiB: larger than any cache
  if (size > kMost) return 0;
  return unit == 'K' ? size << 10 : unit == 'M' ? size << 20 : size;
}

std::size_t ask_library(int level) {
  constexpr std::array kNames = {_SC_LEVEL1_DCACHE_SIZE, _SC_LEVEL2_CACHE_SIZE,
                                 _SC_LEVEL3_CACHE_SIZE, _SC_LEVEL4_CACHE_SIZE};
  const long bytes = sysconf(kNames[static_cast<std::size_t>(level - 1)]);
  return bytes > 0 ? static_cast<std::size_t>(bytes) : 0;
}

std::array<std::size_t, kLevels> ask() {
  const std::string folder = "/sys/devices/system/cpu/cpu0/cache";
  const bool is_told = cache_bytes_in(folder, 1) > 0;
  std::array<std::size_t, kLevels> result{};
  for (int level = 1; level <= kLevels; ++level) {
    result[static_cast<std::size_t>(level - 1)] =
        is_told ? cache_bytes_in(folder, level) : ask_library(level);
  }
  return result;
}

HWY_EXPORT(running_target);

std::string lower_name(std::int64_t target) { return in_lower_case(hwy::TargetName(target)); }

// Computed once: each call of Highway's own list also selects the best target.
const std::vector<std::int64_t>& supported_targets() {
  static const std::vector<std::int64_t> targets = hwy::SupportedAndGeneratedTargets();
  return targets;
}

constexpr const char* kLimit = "OPBENCH_MAX_ISA";

// Better targets have lower bits. This runs before main, because the first vector code selects the
// best target otherwise.
bool is_limited() {
  const char* limit = std::getenv(kLimit);
  if (limit == nullptr) return true;
  const std::vector<std::int64_t> targets = hwy::SupportedAndGeneratedTargets();
  const auto found = std::find_if(targets.begin(), targets.end(),
                                  [&](std::int64_t target) { return lower_name(target) == limit; });
  if (found == targets.end()) return false;
  hwy::DisableTargets(*found - 1);
  supported_targets();
  hwy::GetChosenTarget().Update(*found);  // listing the targets has selected the best one again
  return true;
}

const bool is_limit_known = is_limited();

}  // namespace

std::vector<std::string> supported_isas() {
  std::vector<std::string> names;
  for (const std::int64_t target : supported_targets()) {
    names.push_back(lower_name(target));
  }
  return names;
}

// The dispatcher's own answer: the target that vector code really runs with.
std::string current_isa() { return lower_name(HWY_DYNAMIC_DISPATCH(running_target)()); }

void check_isa_limit() {
  if (is_limit_known) return;
  throw Error(
      fmt::format("{}: '{}' is not an instruction set of this machine and build; allowed: {}",
                  kLimit, std::getenv(kLimit), fmt::join(supported_isas(), ", ")));
}

void select_isa(std::string_view isa) {
  for (const std::int64_t target : supported_targets()) {
    if (lower_name(target) != isa) continue;
    hwy::GetChosenTarget().Update(target);
    return;
  }
  throw Error(fmt::format("'{}' is not an instruction set of this machine and build{}; allowed: {}",
                          isa, isa.starts_with("avx512") ? " (AVX-512 is called avx3)" : "",
                          fmt::join(supported_isas(), ", ")));
}

std::size_t cache_bytes_in(const std::string& folder, int level) {
  for (int i = 0;; ++i) {
    const std::string cache = folder + "/index" + std::to_string(i);
    std::ifstream level_file(cache + "/level"), type_file(cache + "/type");
    int of = 0;
    std::string type;
    if (!(level_file >> of) || !(type_file >> type)) return 0;
    if (of == level && type != "Instruction") return size_in(cache + "/size");
  }
}

std::size_t cache_bytes(int level) {
  static const std::array<std::size_t, kLevels> bytes = ask();
  return level < 1 || level > kLevels ? 0 : bytes[static_cast<std::size_t>(level - 1)];
}

std::size_t last_level_cache_bytes() {
  for (int level = kLevels; level > 1; --level) {
    if (const std::size_t bytes = cache_bytes(level); bytes > 0) return bytes;
  }
  return std::size_t{32} << 20;
}

std::size_t own_cache_bytes() {
  const std::size_t bytes = cache_bytes(2);
  return bytes > 0 ? bytes : std::size_t{1} << 20;
}

std::size_t first_cache_bytes() {
  const std::size_t bytes = cache_bytes(1);
  return bytes > 0 ? bytes : std::size_t{32} << 10;
}

}  // namespace opbench

#endif  // HWY_ONCE
