#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <string_view>

namespace opbench {

/// Counters of the timed calls, of all threads of the process. Energy is that of the processor.
enum class Counter : std::size_t {
  cpu_us,
  page_faults,
  context_switches,
  instructions,
  cycles,
  cache_misses,
  energy_j
};
inline constexpr std::size_t kCounters = 7;

/// Counts of a number of calls.
struct Counts {
  std::int64_t calls = 0;
  std::array<double, kCounters> values = {};  ///< by Counter; NaN: not counted
  /// Least share of the time in which a counter ran. Below 1 the kernel gave it to others in turn,
  /// and its counts are scaled.
  double counted_share = 1;

  double& operator[](Counter counter) { return values[static_cast<std::size_t>(counter)]; }
  double operator[](Counter counter) const { return values[static_cast<std::size_t>(counter)]; }

  /// Adds counts of other calls.
  void add(const Counts& others);
  Counts per_call() const;

  static constexpr Counts unknown() {
    Counts counts;
    counts.values.fill(std::numeric_limits<double>::quiet_NaN());
    return counts;
  }
};

/// A number of reports, from the counts of one call that moves `bytes`. NaN: not known.
struct CountColumn {
  std::string_view name;   ///< in JSON and CSV
  std::string_view title;  ///< in tables
  double (*value)(const Counts& call, double bytes);
};

/// The counters in their order, then what follows from them.
std::span<const CountColumn> count_columns();

}  // namespace opbench
