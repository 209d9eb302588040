#pragma once

#include <cstddef>
#include <functional>
#include <vector>

namespace opbench {

/// Runs the command line program, with every linked operator and kernel. `argv` are the arguments
/// of main. Signals of a closed pipe are ignored. Returns the exit code; throws nothing.
int run_program(int argc, const char* const* argv);

/// The settings of time_function.
struct FunctionOptions {
  /// Bytes that one call reads and writes; 0: unknown, and no rates are measured.
  std::size_t bytes = 0;
  int threads = 0;       ///< threads of parallel_ranges and of the copy; 0: all cores
  double seconds = 0.1;  ///< total of all repetitions, for the function and again for the copy
  int repetitions = 9;
};

/// The time of one call of a function. MAD: median absolute deviation.
struct FunctionTiming {
  std::vector<double> samples_us;  ///< microseconds per call of every repetition, in order
  double median_us = 0, mad_us = 0, min_us = 0;
  /// 1e9 bytes per second: the rate of the function, and of the fastest copy of as many bytes with
  /// as many threads, measured in the same process. 0 if the bytes are unknown.
  double gb_per_s = 0, copy_gb_per_s = 0;
  double copy_share = 0;  ///< gb_per_s / copy_gb_per_s; 1 is as fast as the copy
};

/// Times `function` with Google Benchmark, which finds the number of calls for a repetition; this
/// search is the warm-up. Calls follow each other with warm caches. Errors: throws Error if
/// `options` has no repetitions, negative threads or no time; RunError if the measurement was
/// interrupted.
FunctionTiming time_function(const std::function<void()>& function,
                             const FunctionOptions& options = {});

}  // namespace opbench
