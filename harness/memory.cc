#include "harness/memory.h"

#include <fstream>
#include <limits>
#include <string>

namespace opbench {

std::size_t available_memory() {
  std::ifstream meminfo("/proc/meminfo");
  std::string key, unit;
  std::size_t kib = 0;
  while (meminfo >> key >> kib) {
    if (key == "MemAvailable:") return kib * 1024;
    std::getline(meminfo, unit);
  }
  return std::numeric_limits<std::size_t>::max();
}

}  // namespace opbench
