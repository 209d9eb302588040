#include "harness/run/memory.h"

#include <fmt/format.h>
#include <sys/sysinfo.h>

#include <algorithm>
#include <fstream>
#include <limits>
#include <optional>
#include <string>
#include <string_view>

#include "harness/run/system_file.h"
#include "tensor/error.h"
#include "tensor/parallel.h"
#include "text/fitted.h"

namespace opbench {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kNoLimit = std::numeric_limits<std::size_t>::max();

/// File names of one version of control groups.
struct GroupFiles {
  const char* mount;
  const char* controller;  // in /proc/self/cgroup
  const char* limit;
  const char* used;
  const char* cache;  // in memory.stat
};

constexpr GroupFiles kVersions[] = {
    {"sys/fs/cgroup", "", "memory.max", "memory.current", "inactive_file"},
    {"sys/fs/cgroup/memory", "memory", "memory.limit_in_bytes", "memory.usage_in_bytes",
     "total_inactive_file"},
};

// Number of a key in a file of lines "key number ...".
std::optional<std::size_t> number_of(const fs::path& file, std::string_view key) {
  std::ifstream in(file);
  std::string found, rest;
  for (std::size_t number = 0; in >> found >> number; std::getline(in, rest)) {
    if (found == key) return number;
  }
  return std::nullopt;
}

std::size_t free_of_machine(const fs::path& root) {
  if (const auto kib = number_of(root / "proc/meminfo", "MemAvailable:")) return *kib * 1024;
  struct sysinfo info {};
  if (sysinfo(&info) != 0) return kNoLimit;
  return (std::size_t{info.freeram} + info.bufferram) * info.mem_unit;
}

// Path of this process in the lines "number:controller,controller:path".
fs::path group_of_process(const fs::path& root, std::string_view controller) {
  std::ifstream in(root / "proc/self/cgroup");
  for (std::string line; std::getline(in, line);) {
    const std::size_t first = line.find(':'), second = line.find(':', first + 1);
    if (second == line.npos) continue;
    const std::string controllers = "," + line.substr(first + 1, second - first - 1) + ",";
    if (controllers.find("," + std::string(controller) + ",") == line.npos) continue;
    return fs::path(line.substr(second + 1)).relative_path();
  }
  return {};
}

std::size_t free_of_group(const fs::path& group, const GroupFiles& files) {
  const std::optional<std::size_t> limit = value_in<std::size_t>(group / files.limit);
  if (!limit) return kNoLimit;
  const std::size_t used = value_in<std::size_t>(group / files.used).value_or(0);
  const std::size_t cache = number_of(group / "memory.stat", files.cache).value_or(0);
  return *limit - std::min(*limit, used - std::min(used, cache));
}

// A container may not have access to the groups above its own. Its own group is mounted at the root
// then.
std::size_t free_of_groups(const fs::path& root, const GroupFiles& files) {
  const fs::path mount = root / files.mount;
  std::size_t bytes = free_of_group(mount, files);
  for (fs::path group = group_of_process(root, files.controller); !group.empty();
       group = group.parent_path()) {
    bytes = std::min(bytes, free_of_group(mount / group, files));
  }
  return bytes;
}

}  // namespace

std::size_t available_memory(const fs::path& root) {
  std::size_t bytes = free_of_machine(root);
  for (const GroupFiles& files : kVersions) bytes = std::min(bytes, free_of_groups(root, files));
  return bytes;
}

namespace {

std::size_t largest_temporary_bytes(const PlannedStep& step, int threads) {
  std::size_t largest = 0;
  with_threads(threads, [&] {
    for (std::size_t i = 0; i < step.graph.nodes.size(); ++i) {
      largest = std::max(largest,
                         temporary_bytes(*step.selection.kernels[i], step.graph.nodes[i].problem));
    }
  });
  return largest;
}

std::size_t result_bytes(const PlannedStep& step) {
  std::size_t bytes = 0;
  for (const GraphResult& result : step.results) {
    const TensorDesc& desc = step.graph.tensors[result.tensor].desc;
    bytes += static_cast<std::size_t>(desc.elements()) * size_of(desc.dtype);
  }
  return bytes;
}

void require_memory_of(const PlannedCase& planned, std::span<const std::size_t> chosen,
                       int threads) {
  std::size_t needed = planned.graph.memory_bytes();
  with_threads(threads, [&] {
    for (const std::size_t i : chosen) {
      needed += temporary_bytes(planned.graph, planned.variants[i]);
    }
  });
  require_memory(needed,
                 "take a smaller shape or batch (--set N=...), or fewer variants at once "
                 "(--variant)");
}

void require_memory_of(const PlannedStep& step, int threads, bool verifies) {
  // The first step's results, the results that are compared with them, and the pairs of values of
  // the comparison.
  const std::size_t compared = verifies ? 3 * result_bytes(step) : 0;
  require_memory(step.memory.bytes + largest_temporary_bytes(step, threads) + compared,
                 "take a smaller batch (--set N=...), or leave the comparison of results out "
                 "(--no-verify)");
}

}  // namespace

void require_memory_of(const WorkUnit& unit, std::span<const std::size_t> chosen, int threads,
                       bool verifies) {
  if (!unit.is_context()) return require_memory_of(*unit.planned_case, chosen, threads);
  for (const std::size_t i : chosen) require_memory_of(unit.context->steps[i], threads, verifies);
}

void require_memory(std::size_t bytes, std::string_view advice) {
  const std::size_t available = available_memory();
  if (bytes <= available) return;
  throw RunError(fmt::format("needs {} of memory, {} are free; {}",
                             byte_size_text(static_cast<double>(bytes)),
                             byte_size_text(static_cast<double>(available)), advice));
}

}  // namespace opbench
