#include "opbench/guest/watch.h"

#include <dirent.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <memory>
#include <vector>

namespace opbench::guest {

std::int64_t Clock::nanoseconds() const {
  timespec now = {};
  read_(CLOCK_MONOTONIC, &now);
  return std::int64_t(now.tv_sec) * 1000000000 + now.tv_nsec;
}

int thread_count() {
  const std::unique_ptr<DIR, int (*)(DIR*)> tasks(opendir("/proc/self/task"), &closedir);
  int count = 0;
  while (const dirent* entry = tasks ? readdir(tasks.get()) : nullptr) {
    if (entry->d_name[0] != '.') ++count;
  }
  return count;
}

void empty_caches() {
  // 64 MiB where the size of the caches is unknown.
  const long last =
      std::max({sysconf(_SC_LEVEL3_CACHE_SIZE), sysconf(_SC_LEVEL2_CACHE_SIZE), 32L << 20});
  static std::vector<unsigned char> memory(std::size_t(2 * last));
  constexpr std::size_t kLineBytes = 64;
  for (std::size_t i = 0; i < memory.size(); i += kLineBytes) ++memory[i];
  asm volatile("" : : "r"(memory.data()) : "memory");
}

}  // namespace opbench::guest
