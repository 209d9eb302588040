#include "tensor/cache_sizes.h"

#include <unistd.h>

#include <array>
#include <fstream>

namespace opbench {
namespace {

constexpr int kLevels = 4;

// "32768K"; 0 if it is something else.
std::size_t size_in(const std::string& path) {
  std::ifstream file(path);
  std::size_t size = 0;
  char unit = 0;
  file >> size;
  if (!file) return 0;
  file >> unit;
  constexpr std::size_t kMost = std::size_t{1} << 40;  // no cache is that large
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

}  // namespace

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
