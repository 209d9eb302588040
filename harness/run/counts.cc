#include "harness/run/counts.h"

#include <algorithm>

namespace opbench {
namespace {

constexpr double kNone = std::numeric_limits<double>::quiet_NaN();

double ratio(double count, double of) { return of > 0 ? count / of : kNone; }

template <Counter counter>
constexpr CountColumn counted(std::string_view name, std::string_view title) {
  return {name, title, [](const Counts& call, double) { return call[counter]; }};
}

constexpr CountColumn kColumns[] = {
    counted<Counter::cpu_us>("cpu_us", "CPU us"),
    counted<Counter::page_faults>("page_faults", "faults"),
    counted<Counter::context_switches>("context_switches", "switches"),
    counted<Counter::instructions>("instructions", "instr"),
    counted<Counter::cycles>("cycles", "cycles"),
    counted<Counter::cache_misses>("cache_misses", "misses"),
    counted<Counter::energy_j>("energy_j", "J"),
    {"instructions_per_cycle", "IPC",
     [](const Counts& call, double) {
       return ratio(call[Counter::instructions], call[Counter::cycles]);
     }},
    {"instructions_per_byte", "instr/B",
     [](const Counts& call, double bytes) { return ratio(call[Counter::instructions], bytes); }},
    {"cache_misses_per_byte", "misses/B",
     [](const Counts& call, double bytes) { return ratio(call[Counter::cache_misses], bytes); }},
    {"counted_share", "counted",
     [](const Counts& call, double) {
       return call.counted_share < 1 ? call.counted_share : kNone;
     }},
};

}  // namespace

void Counts::add(const Counts& others) {
  calls += others.calls;
  for (std::size_t i = 0; i < kCounters; ++i) values[i] += others.values[i];
  counted_share = std::min(counted_share, others.counted_share);
}

Counts Counts::per_call() const {
  Counts call = *this;
  for (double& value : call.values) value = ratio(value, static_cast<double>(calls));
  call.calls = 1;
  return call;
}

std::span<const CountColumn> count_columns() { return kColumns; }

}  // namespace opbench
