#pragma once

#include <cstddef>
#include <functional>
#include <vector>

namespace opbench {

/// Runs the command line program, with every operator and kernel that is linked in. `argv` as main
/// gets it. Signals that would end it when a reader goes away are ignored. Returns the exit code;
/// throws nothing.
int run_program(int argc, const char* const* argv);

/// How time_function measures.
struct FunctionOptions {
  /// Bytes that one call reads and writes; 0: unknown, then no rates are measured.
  std::size_t bytes = 0;
  int threads = 0;       ///< that parallel_ranges and the copy use; 0: all cores
  double seconds = 0.1;  ///< over all repetitions, of the function and again of the copy
  int repetitions = 9;
};

/// What one call of a function takes. MAD: median absolute deviation.
struct FunctionTiming {
  std::vector<double> samples_us;  ///< microseconds per call of every repetition, in order
  double median_us = 0, mad_us = 0, min_us = 0;
  /// 1e9 bytes per second: of the function, and of the fastest way to copy as many bytes with as
  /// many threads, measured in the same process. 0 where the bytes are unknown.
  double gb_per_s = 0, copy_gb_per_s = 0;
  double copy_share = 0;  ///< the first over the second; 1 is as fast as copying
};

/// Times `function` with Google Benchmark, which finds the number of calls for a repetition; that
/// search is the warm-up. Calls follow each other with warm caches.
/// Errors: throws Error if there are no repetitions, threads are negative or no time is given;
/// RunError if it was interrupted.
FunctionTiming time_function(const std::function<void()>& function,
                             const FunctionOptions& options = {});

}  // namespace opbench
