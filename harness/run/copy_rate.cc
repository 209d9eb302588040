#include "harness/run/copy_rate.h"

#include <algorithm>
#include <cstring>

#include "tensor/buffer.h"
#include "tensor/parallel.h"

namespace opbench {

CopyRate measure_copy_rate(std::size_t bytes, int threads, TimingOptions timing, bool cold) {
  const std::size_t half = std::max<std::size_t>(bytes / 2, 1);
  const Buffer from(half), to(half);
  std::memset(from.data(), 1, half);  // zero pages would be one page
  if (cold) {
    timing.evict = [&] {
      evict_from_caches(from.data(), half);
      evict_from_caches(to.data(), half);
    };
  }
  std::vector<double> times;
  with_threads(threads, [&] {
    constexpr std::int64_t kPage = 4096;
    for (const Sample& sample : time_calls("memcpy", timing, [&] {
           parallel_ranges(static_cast<std::int64_t>(half), kPage,
                           [&](std::int64_t begin, std::int64_t end) {
                             std::memcpy(static_cast<std::byte*>(to.data()) + begin,
                                         static_cast<const std::byte*>(from.data()) + begin,
                                         static_cast<std::size_t>(end - begin));
                           });
         })) {
      times.push_back(sample.ns_per_call);
    }
  });
  const Spread spread = spread_of(times);
  if (spread.median <= 0) return {};
  const double bytes_times_1e9 = 2e9 * static_cast<double>(half);
  return {bytes_times_1e9 / spread.median, bytes_times_1e9 / spread.min};
}

}  // namespace opbench
