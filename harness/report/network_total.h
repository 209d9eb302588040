#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "harness/run/record.h"

namespace opbench::report {

/// What a network takes that runs every case `count` times, with one number of threads: sums of
/// count times median over cases that were profiled.
struct NetworkTotal {
  int threads = 1;
  std::size_t cases = 0;    ///< with a weight
  std::size_t untimed = 0;  ///< of these, those of which no variant was timed: in no sum
  std::int64_t calls = 0;   ///< of those that were timed
  double best_us = 0;       ///< of the fastest variant of each
  double native_us = 0;     ///< of the native variant of each, the fastest where it was not timed
  double weight_us = 0;     ///< what the timed ones took when they were profiled
};

/// For each number of threads in the order of the records; none where no case has a weight. Steps
/// of contexts are passed over.
std::vector<NetworkTotal> network_totals(std::span<const Record> records);

/// "Network, 23 cases in 187 calls: 12.345 ms with the fastest variants, 15.000 ms native; 8.873 ms
/// when profiled\n".
std::string network_text(const NetworkTotal& total);

}  // namespace opbench::report
