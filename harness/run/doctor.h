#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "harness/run/machine.h"
#include "kernels/simd/streaming.h"

namespace opbench {

/// The fastest copy inside memory of `bytes`, far beyond the caches, and the most that arithmetic
/// reaches.
struct Ceilings {
  int threads = 1;
  std::size_t bytes = 0;
  double gb_per_s = 0;         ///< read plus written, median
  double cv = 0;               ///< standard deviation over mean of the samples
  std::string way;             ///< how it was copied
  double gflop_per_s = 0;      ///< fp32 multiply-adds
  StreamingSize streams_from;  ///< bytes of a call from which kernels stream their results
};

/// What stands between this machine and good measurements.
struct Checkup {
  std::vector<Ceilings> ceilings;     ///< one thread, then all cores
  std::vector<std::string> findings;  ///< each with what to do
  bool is_too_noisy = false;
};

Checkup examine(const Machine& machine);

}  // namespace opbench
