#pragma once

#include <cstddef>
#include <string>

#include "harness/plan/graph.h"
#include "harness/run/timing.h"
#include "tensor/dtype.h"

namespace opbench {

/// Operations per second that so many threads reach at most where nothing is loaded or stored:
/// fused multiply-adds in registers, 2 operations each, as measured once in this process. fp16 and
/// bf16 are computed in fp32. 0 for dtypes without a fraction, and if interrupted.
double peak_operations_per_second(DType dtype, int threads);

/// Bytes that something reads and writes.
struct BytesMoved {
  std::size_t read = 0, written = 0;
};
/// The traffic of a graph in its proportion, and no more than its tensors hold, though a call may
/// move some of them more than once.
BytesMoved bytes_moved(const Graph& graph);

/// How fast bytes can be moved here, read plus written.
struct CopyRate {
  double median = 0, best = 0;  ///< bytes per second; 0 if interrupted
  double cv = 0;                ///< standard deviation of the samples over their mean
  std::string way;              ///< the fastest: "memcpy", "streamed copy, 1 thread"
  /// True where the call itself takes most of the time: moving 64 bytes takes at least half of it.
  bool is_latency = false;
};

/// The fastest of several ways of moving as many bytes (kernels/copy/moved_bytes.h) with at
/// most so many threads: what is in caches also with one. All ways race for a short time, the
/// winner is measured as `timing` says. 100 % of "of copy".
CopyRate measure_copy_rate(BytesMoved bytes, int threads, TimingOptions timing, bool cold);

}  // namespace opbench
