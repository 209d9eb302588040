#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "harness/record/machine.h"

namespace opbench {

/// memcpy of buffers that together hold `bytes`, far beyond the caches.
struct Bandwidth {
  int threads = 1;
  std::size_t bytes = 0;
  double gb_per_s = 0;  ///< read plus written, median
  double cv = 0;        ///< standard deviation over mean of the samples
};

/// What stands between this machine and good measurements.
struct Checkup {
  std::vector<Bandwidth> bandwidths;  ///< one thread, then all cores
  std::vector<std::string> findings;  ///< each with what to do
  bool is_too_noisy = false;
};

Checkup examine(const Machine& machine);

}  // namespace opbench
