#include "kernels/lanes/streaming.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <charconv>
#include <chrono>
#include <cstdlib>
#include <limits>
#include <map>
#include <mutex>
#include <string>
#include <string_view>

#include "kernels/yardstick/moved_bytes.h"
#include "tensor/buffer.h"
#include "tensor/cache_sizes.h"
#include "tensor/error.h"
#include "tensor/parallel.h"

namespace opbench {
namespace {

constexpr const char* kVariable = "OPBENCH_STREAM_FROM";
constexpr std::size_t kUnset = std::numeric_limits<std::size_t>::max();
std::atomic<std::size_t> set_by_test = kUnset;

// The fastest of some copies, the first of which brings the caches into the state that its way
// leaves: what else the machine does only makes them slower.
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

// In turn. What is about equal is kept in the caches, where the next operator finds it.
bool streaming_wins(std::byte* memory, std::size_t bytes) {
  constexpr int kTurns = 3;
  constexpr double kClearly = 0.9;
  const MovedBytes halves{memory, bytes / 2, bytes / 2};
  fill_bytes(memory, 1, bytes);  // memory that nobody wrote is one page of zeros
  double stored = std::numeric_limits<double>::infinity(), streamed = stored;
  for (int turn = 0; turn < kTurns; ++turn) {
    stored = std::min(stored, seconds_of(MovingWay::stores, halves));
    streamed = std::min(streamed, seconds_of(MovingWay::streams, halves));
  }
  return streamed < kClearly * stored;
}

// Doubled until streaming wins, then cut once in the middle. What the last-level cache holds is the
// most that is asked about.
std::size_t measure(int threads) {
  const std::size_t first = own_cache_bytes() * static_cast<std::size_t>(threads) * 5 / 4;
  const std::size_t last = last_level_cache_bytes();
  if (first >= last) return first;
  const Buffer memory(last);
  std::size_t result = first;
  with_threads(threads, [&] {
    auto* data = static_cast<std::byte*>(memory.data());
    std::size_t kept = 0;  // the most bytes that were better kept in the caches
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

std::size_t measured(int threads) {
  static std::mutex mutex;
  static std::map<int, std::size_t> known;
  const std::lock_guard lock(mutex);
  const auto found = known.find(threads);
  if (found != known.end()) return found->second;
  return known[threads] = measure(threads);
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

std::size_t streams_from_bytes() {
  const std::size_t set = set_by_test;
  if (set != kUnset) return set;
  static const std::optional<std::size_t> bytes = told();
  return bytes ? *bytes : measured(thread_count());
}

void tell_children_streams_from(std::optional<std::size_t> bytes) {
  static const char* const variable = std::getenv(kVariable);
  static const std::string own = variable == nullptr ? "" : variable;
  if (!bytes && own.empty()) {
    unsetenv(kVariable);
  } else {
    setenv(kVariable, bytes ? std::to_string(*bytes).c_str() : own.c_str(), 1);
  }
}

ScopedStreamsFrom::ScopedStreamsFrom(std::size_t bytes) : before_(set_by_test.exchange(bytes)) {}

ScopedStreamsFrom::~ScopedStreamsFrom() { set_by_test = before_; }

}  // namespace opbench
