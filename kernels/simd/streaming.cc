#include "kernels/simd/streaming.h"

#include <fmt/format.h>
#include <sys/resource.h>

#include <algorithm>
#include <atomic>
#include <charconv>
#include <chrono>
#include <cstdlib>
#include <fstream>
#include <limits>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

#include "kernels/copy/moved_bytes.h"
#include "tensor/buffer.h"
#include "tensor/error.h"
#include "tensor/parallel.h"
#include "tensor/processor.h"

namespace opbench {
namespace {

constexpr const char* kVariable = "OPBENCH_STREAM_FROM";
constexpr std::size_t kUnset = std::numeric_limits<std::size_t>::max();
std::atomic<std::size_t> set_by_test = kUnset;

// The fastest of some copies; other load of the machine only makes them slower. The first copy
// brings the caches into the state that this way leaves.
double seconds_of(MovingWay way, const MovedBytes& bytes) {
  using Clock = std::chrono::steady_clock;
  move_bytes(way, bytes);
  double fastest = std::numeric_limits<double>::infinity();
  for (int i = 0; i < 3; ++i) {
    const Clock::time_point start = Clock::now();
    move_bytes(way, bytes);
    fastest = std::min(fastest, std::chrono::duration<double>(Clock::now() - start).count());
  }
  return fastest;
}

// Measures both ways in turn. If they are about equal, the bytes are kept in the caches, where the
// next operator finds them.
bool streaming_wins(std::byte* memory, std::size_t bytes) {
  constexpr int kTurns = 3;
  constexpr double kClearly = 0.9;  // streaming must be 10 % faster
  const MovedBytes halves{memory, bytes / 2, bytes / 2};
  fill_bytes(memory, 1, bytes);  // memory that was never written is one page of zeros
  double stored = std::numeric_limits<double>::infinity(), streamed = stored;
  for (int turn = 0; turn < kTurns; ++turn) {
    stored = std::min(stored, seconds_of(MovingWay::stores, halves));
    streamed = std::min(streamed, seconds_of(MovingWay::streams, halves));
  }
  return streamed < kClearly * stored;
}

// The lower limit of streaming: slightly more than the cores' own caches.
std::size_t least_bytes(int threads) {
  return own_cache_bytes() * static_cast<std::size_t>(threads) * 5 / 4;
}

// The threads' share of the last-level cache.
std::size_t size_by_caches(int threads) {
  const auto cores = static_cast<std::size_t>(available_cores());
  const std::size_t sharing = std::min(static_cast<std::size_t>(threads), cores);
  return std::max(least_bytes(threads), last_level_cache_bytes() / cores * sharing);
}

// The size is doubled until streaming wins, then bisected once. The size of the last-level cache is
// the upper limit.
std::size_t measured_bytes(int threads) {
  const std::size_t first = least_bytes(threads);
  const std::size_t last = last_level_cache_bytes();
  if (first >= last) return first;
  const Buffer memory(last);
  std::size_t result = first;
  with_threads(threads, [&] {
    auto* data = static_cast<std::byte*>(memory.data());
    std::size_t kept = 0;  // the largest size that was faster in the caches
    while (result < last && !streaming_wins(data, result)) {
      kept = result;
      result = std::min(2 * result, last);
    }
    if (kept == 0) return;
    const std::size_t middle = kept + (result - kept) / 2;
    if (streaming_wins(data, middle)) result = middle;
  });
  return result;
}

// The number of times that the system took a core from this process.
std::int64_t preemptions() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return usage.ru_nivcsw;
}

// The number of other programs and threads that are ready to run.
int others_running() {
  std::ifstream file("/proc/loadavg");
  std::string averages[3];
  int running = 1;
  file >> averages[0] >> averages[1] >> averages[2] >> running;
  return file ? running - 1 : 0;
}

StreamingSize measure_streaming_size(int threads) {
  // Other programs on the cores also use the caches and the memory.
  if (threads + others_running() > available_cores()) {
    return {size_by_caches(threads), StreamingSource::caches};
  }
  // The system's own tasks take a core at most 40 times a second, so they do not meet all of the
  // nine copies, and the fastest is not affected.
  constexpr std::int64_t kFew = 2;
  constexpr double kPerSecond = 50;
  using Clock = std::chrono::steady_clock;
  const Clock::time_point start = Clock::now();
  const std::int64_t before = preemptions();
  const std::size_t bytes = measured_bytes(threads);
  const double seconds = std::chrono::duration<double>(Clock::now() - start).count();
  const std::int64_t taken = preemptions() - before;
  if (static_cast<double>(taken) > kFew + kPerSecond * seconds) {
    return {size_by_caches(threads), StreamingSource::caches};
  }
  return {bytes, StreamingSource::measured};
}

StreamingSize measured(int threads) {
  static std::mutex mutex;
  static std::map<int, StreamingSize> known;
  const std::lock_guard lock(mutex);
  const auto found = known.find(threads);
  if (found != known.end()) return found->second;
  return known.emplace(threads, measure_streaming_size(threads)).first->second;
}

std::optional<std::size_t> told() {
  const char* variable = std::getenv(kVariable);
  if (variable == nullptr) return {};
  const std::string_view text(variable);
  std::size_t bytes = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), bytes);
  if (error != std::errc() || end != text.data() + text.size()) {
    throw Error(fmt::format("{}: expected a number of bytes, found '{}'", kVariable, text));
  }
  return bytes;
}

}  // namespace

StreamingSize streaming_size() {
  const std::size_t set = set_by_test;
  if (set != kUnset) return {set, StreamingSource::told};
  static const std::optional<std::size_t> bytes = told();
  return bytes ? StreamingSize{*bytes, StreamingSource::told} : measured(thread_count());
}

void tell_children_streams_from() {
  setenv(kVariable, std::to_string(streams_from_bytes()).c_str(), 1);
}

ScopedStreamsFrom::ScopedStreamsFrom(std::size_t bytes) : before_(set_by_test.exchange(bytes)) {}

ScopedStreamsFrom::~ScopedStreamsFrom() { set_by_test = before_; }

}  // namespace opbench
