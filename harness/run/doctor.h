#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "harness/run/machine.h"
#include "kernels/simd/streaming.h"

namespace opbench {

/// Rate of the fastest copy inside memory of `bytes`, far larger than the caches, and peak rate of
/// arithmetic.
struct Ceilings {
  int threads = 1;
  std::size_t bytes = 0;
  double gb_per_s = 0;         ///< read plus written, median
  double cv = 0;               ///< standard deviation over mean of the samples
  std::string way;             ///< method of the copy
  double gflop_per_s = 0;      ///< fp32 multiply-adds
  StreamingSize streams_from;  ///< size of a call from which on kernels use streaming stores
};

/// Measured ceilings of this machine, and its obstacles to good measurements.
struct Checkup {
  std::vector<Ceilings> ceilings;     ///< one thread, then all cores
  std::vector<std::string> findings;  ///< each with its remedy
  bool is_too_noisy = false;
};

Checkup examine(const Machine& machine);

}  // namespace opbench
