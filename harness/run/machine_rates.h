#pragma once

#include <cstddef>
#include <string>

#include "harness/plan/graph.h"
#include "harness/run/timing.h"
#include "tensor/dtype.h"

namespace opbench {

/// Peak operations per second of `threads` threads without loads and stores. It counts fused
/// multiply-adds in registers as 2 operations each, and is measured once in this process. fp16 and
/// bf16 are computed in fp32. 0 for integer dtypes, and if interrupted.
double peak_operations_per_second(DType dtype, int threads);

/// Bytes that are read and written.
struct BytesMoved {
  std::size_t read = 0, written = 0;
};
/// The traffic of a graph, reduced in proportion to the size of its tensors if it is larger: a call
/// may move some of them more than once.
BytesMoved bytes_moved(const Graph& graph);

/// Measured rate of moving bytes on this machine, read plus written.
struct CopyRate {
  double median = 0, best = 0;  ///< bytes per second; 0 if interrupted
  double cv = 0;                ///< standard deviation of the samples over their mean
  std::string way;              ///< the fastest method: "memcpy", "streamed copy, 1 thread"
  /// True if the call overhead dominates: moving 64 bytes takes at least half of the time.
  bool is_latency = false;
};

/// The fastest of several methods of moving this number of bytes (kernels/copy/moved_bytes.h) with
/// at most `threads` threads. Data in caches is also tried with one thread. All methods run for a
/// short time, and the winner is measured with `timing`. It defines 100 % of "of copy".
CopyRate measure_copy_rate(BytesMoved bytes, int threads, TimingOptions timing, bool cold);

}  // namespace opbench
