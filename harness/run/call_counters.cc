#include "harness/run/call_counters.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <linux/perf_event.h>

#include <algorithm>
#include <cmath>
#include <map>

namespace opbench {
namespace {

struct Countable {
  Counter counter;
  PerfKind kind;
  double unit = 1;  ///< of the kernel's number
};

// The cache misses are those of the last level on most processors.
constexpr Countable kCountable[] = {
    {Counter::cpu_us, {PERF_TYPE_SOFTWARE, PERF_COUNT_SW_TASK_CLOCK}, 1e-3},
    {Counter::page_faults, {PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS}},
    {Counter::context_switches, {PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CONTEXT_SWITCHES, true}},
    {Counter::instructions, {PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS}},
    {Counter::cycles, {PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES}},
    {Counter::cache_misses, {PERF_TYPE_HARDWARE, PERF_COUNT_HW_CACHE_MISSES}},
};

const Countable& countable(Counter counter) {
  return *std::find_if(std::begin(kCountable), std::end(kCountable),
                       [&](const Countable& one) { return one.counter == counter; });
}

void add_to(double& sum, double count) { sum = std::isnan(sum) ? count : sum + count; }

}  // namespace

CallCounters::CallCounters(bool has_energy) {
  for (const Countable& one : kCountable) {
    PerfEvent event = PerfEvent::of_threads(one.kind);
    if (event.is_open()) opened_.push_back({one.counter, std::move(event)});
  }
  if (!has_energy) return;
  energy_.emplace();
  if (!energy_->is_available()) energy_.reset();
}

void CallCounters::start() {
  if (energy_) energy_->take();
  for (Opened& one : opened_) one.event.take();
}

void CallCounters::stop() {
  Counts& sample = samples_.back();
  for (Opened& one : opened_) {
    add_to(sample[one.counter], one.event.take() * countable(one.counter).unit);
    sample.counted_share = std::min(sample.counted_share, one.event.counted_share());
  }
  if (energy_) add_to(sample[Counter::energy_j], energy_->take());
}

void CallCounters::drop(std::size_t first, std::size_t count) {
  const auto begin = samples_.begin() + static_cast<std::ptrdiff_t>(first);
  samples_.erase(begin, begin + static_cast<std::ptrdiff_t>(count));
}

Counts CallCounters::total() const {
  Counts total;
  for (const Counts& sample : samples_) total.add(sample);
  return total;
}

std::vector<std::string> CallCounters::refusals() {
  std::map<std::string, std::vector<std::string_view>> names;
  const auto name_of = [](Counter counter) {
    return count_columns()[static_cast<std::size_t>(counter)].name;
  };
  for (const Countable& one : kCountable) {
    const PerfEvent event = PerfEvent::of_threads(one.kind);
    if (event.is_open()) continue;
    const int enough = one.kind.is_of_kernel ? 1 : 2;
    names[perf_refusal(event.error(), perf_paranoid_level(), enough)].push_back(
        name_of(one.counter));
  }
  const EnergyMeter energy;
  if (!energy.is_available()) names[energy.refusal()].push_back(name_of(Counter::energy_j));
  std::vector<std::string> sentences;
  for (const auto& [reason, counters] : names) {
    sentences.push_back(fmt::format("{} not counted: {}", fmt::join(counters, ", "), reason));
  }
  return sentences;
}

}  // namespace opbench
