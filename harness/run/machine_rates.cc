#include "harness/run/machine_rates.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <utility>
#include <vector>

#include "harness/run/timing.h"
#include "kernels/copy/moved_bytes.h"
#include "kernels/simd/multiply_adds.h"
#include "tensor/buffer.h"
#include "tensor/parallel.h"
#include "tensor/processor.h"

namespace opbench {
namespace {

// The best sample counts: this is a ceiling, and disturbances only lower a sample.
double measure(bool in_fp64, int threads) {
  double rate = 0;
  with_threads(threads, [&] {
    const double operations = threads * multiply_add_operations(in_fp64);
    for (const Sample& sample :
         time_calls("multiply-add", {0.03, 9, {}, nullptr}, [&] { multiply_adds(in_fp64); })) {
      rate = std::max(rate, 1e9 * operations / sample.ns_per_call);
    }
  });
  return rate;
}

}  // namespace

double peak_operations_per_second(DType dtype, int threads) {
  if (!is_floating(dtype)) return 0;
  static std::map<std::pair<bool, int>, double> known;
  double& rate = known[{dtype == DType::fp64, threads}];
  if (rate == 0) rate = measure(dtype == DType::fp64, threads);
  return rate;
}

namespace {

struct Contender {
  MovingWay way;
  int threads;
};

std::vector<Contender> contenders(std::size_t bytes, int threads) {
  std::vector<Contender> all;
  for (const MovingWay way : kMovingWays) all.push_back({way, threads});
  if (threads > 1 && bytes <= last_level_cache_bytes()) {
    for (const MovingWay way : kMovingWays) all.push_back({way, 1});
  }
  return all;
}

/// Times calls that move bytes in memory of their own.
class Mover {
 public:
  Mover(BytesMoved bytes, bool cold)
      : memory_(std::max<std::size_t>(bytes.read + bytes.written, 2)), cold_(cold) {
    bytes_ = {static_cast<std::byte*>(memory_.data()), bytes.read, memory_.size() - bytes.read};
    fill_bytes(memory_.data(), 1, memory_.size());  // untouched zero pages would all be one page
  }

  /// Nanoseconds per byte, of all samples; zeros if interrupted.
  Spread time(const Contender& contender, TimingOptions timing) const {
    return time(contender, bytes_, std::move(timing));
  }

  double ns_of_64_bytes(const Contender& contender, TimingOptions timing) const {
    return 64 * time(contender, {bytes_.memory, 32, 32}, std::move(timing)).median;
  }

 private:
  Spread time(const Contender& contender, const MovedBytes& bytes, TimingOptions timing) const {
    if (cold_) timing.evict = [&] { evict_from_caches(memory_.data(), memory_.size()); };
    std::vector<double> ns;
    with_threads(contender.threads, [&] {
      std::size_t moved = 1;
      for (const Sample& sample :
           time_calls("copy", timing, [&] { moved = move_bytes(contender.way, bytes); })) {
        ns.push_back(sample.ns_per_call / static_cast<double>(moved));
      }
    });
    return ns.empty() ? Spread{} : spread_of(std::move(ns));
  }

  Buffer memory_;
  MovedBytes bytes_{};
  bool cold_;
};

std::string text_of(const Contender& contender, int threads) {
  const std::string_view way = name(contender.way);
  return contender.threads == threads ? std::string(way) : fmt::format("{}, 1 thread", way);
}

}  // namespace

BytesMoved bytes_moved(const Graph& graph) {
  const Traffic traffic = graph.traffic();
  const double held = static_cast<double>(graph.memory_bytes());
  const double share = std::min(1.0, held / std::max(traffic.bytes(), 1.0));
  return {static_cast<std::size_t>(share * traffic.bytes_read),
          static_cast<std::size_t>(share * traffic.bytes_written)};
}

CopyRate measure_copy_rate(BytesMoved bytes, int threads, TimingOptions timing, bool cold) {
  const std::size_t whole = bytes.read + bytes.written;
  const Mover mover(bytes, cold);
  const std::vector<Contender> all = contenders(whole, threads);
  TimingOptions race = timing;
  race.repetitions = std::min(timing.repetitions, 3);
  race.seconds = timing.seconds / static_cast<double>(all.size());
  const Contender* winner = nullptr;
  double fastest = 0;
  for (const Contender& contender : all) {
    const double ns = mover.time(contender, race).min;
    if (ns <= 0 || (winner != nullptr && ns >= fastest)) continue;
    fastest = ns;
    winner = &contender;
  }
  if (winner == nullptr) return {};  // interrupted
  const Spread ns = mover.time(*winner, timing);
  if (ns.min <= 0) return {};
  const double call = mover.ns_of_64_bytes(*winner, race);
  return {1e9 / ns.median, 1e9 / ns.min, ns.cv, text_of(*winner, threads),
          2 * call >= static_cast<double>(whole) * ns.median};
}

}  // namespace opbench
