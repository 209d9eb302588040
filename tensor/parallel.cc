#include "tensor/parallel.h"

#include <fmt/format.h>
#include <sched.h>
#include <tbb/global_control.h>
#include <tbb/parallel_for.h>
#include <tbb/task_arena.h>

#include <algorithm>
#include <map>
#include <mutex>
#include <optional>
#include <thread>

#include "tensor/error.h"

namespace opbench {

int thread_count() { return tbb::this_task_arena::max_concurrency(); }

int available_cores() {
  cpu_set_t cores;
  // sched_getaffinity fails on machines with more cores than a cpu_set_t has bits.
  if (sched_getaffinity(0, sizeof cores, &cores) == 0) return CPU_COUNT(&cores);
  return static_cast<int>(std::max(1u, std::thread::hardware_concurrency()));
}

namespace {

// Keeps one arena for each number of threads: a run enters them thousands of times, and creating
// and destroying arenas leaks memory.
tbb::task_arena& arena_of(int threads) {
  static std::mutex mutex;
  static std::map<int, tbb::task_arena> arenas;
  const std::lock_guard lock(mutex);
  return arenas.try_emplace(threads, threads).first->second;
}

}  // namespace

void with_threads(int threads, const std::function<void()>& work) {
  if (threads < 1) throw Error(fmt::format("{} threads: at least 1 is needed", threads));
  std::optional<tbb::global_control> more_than_cores;
  if (threads > available_cores()) {
    more_than_cores.emplace(tbb::global_control::max_allowed_parallelism, threads);
  }
  arena_of(threads).execute(work);
}

void parallel_ranges(std::int64_t count, std::int64_t grain,
                     const std::function<void(std::int64_t begin, std::int64_t end)>& body) {
  if (count <= 0) return;
  const std::int64_t units = (count - 1) / grain + 1;
  const std::int64_t ranges = std::min<std::int64_t>(thread_count(), units);
  if (ranges == 1) return body(0, count);
  const auto start_of = [&](std::int64_t range) {
    // The first `units % ranges` ranges are one grain longer; no product can overflow.
    const std::int64_t unit = range * (units / ranges) + std::min(range, units % ranges);
    return unit == units ? count : unit * grain;
  };
  tbb::parallel_for(
      std::int64_t{0}, ranges, std::int64_t{1},
      [&](std::int64_t range) { body(start_of(range), start_of(range + 1)); },
      tbb::static_partitioner());
}

void parallel_blocks(std::int64_t count, const std::function<void(std::int64_t index)>& body) {
  if (count == 1 || thread_count() == 1) {
    for (std::int64_t i = 0; i < count; ++i) body(i);
    return;
  }
  // A caller that holds a lock must not take up other work while it waits.
  tbb::this_task_arena::isolate([&] { tbb::parallel_for(std::int64_t{0}, count, body); });
}

}  // namespace opbench
