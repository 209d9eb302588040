#pragma once

#include <cstdint>
#include <functional>

namespace opbench {

/// The number of threads of parallel work here: that of the enclosing `with_threads`, else all
/// cores.
int thread_count();

/// The number of cores that this process may run on (its affinity mask).
int available_cores();

/// Calls `work` with `threads` threads available (oneTBB task arena).
void with_threads(int threads, const std::function<void()>& work);

/// Cuts [0, count) into one contiguous range per thread, each a multiple of `grain` except the
/// last, and calls `body(begin, end)` for all of them at once. The cut is static: it depends on
/// count, grain and threads only.
void parallel_ranges(std::int64_t count, std::int64_t grain,
                     const std::function<void(std::int64_t begin, std::int64_t end)>& body);

/// Calls `body(i)` for every i of [0, count), in any order, balanced over the threads.
void parallel_blocks(std::int64_t count, const std::function<void(std::int64_t index)>& body);

}  // namespace opbench
