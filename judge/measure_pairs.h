#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "dump/dump_types.h"
#include "judge/pair_stats.h"
#include "tensor/elements.h"

namespace opbench {

/// One side of a pair. `read` gives stored elements, in logical order. `dtype` is their real type
/// (uint8 stored as int8 is read back correctly).
struct PairSide {
  StoredType stored = StoredType::none;
  DType dtype = DType::fp32;
  std::function<void(ElementRange range, void* to)> read;
  /// True if all bytes of a range are zero, without reading them; empty if that is not known.
  std::function<bool(ElementRange range)> is_hole = {};
};

/// Two tensors with the same number of elements.
struct TensorPair {
  PairSide actual, expected;
  std::int64_t count = 0;
  Tolerance tolerance;
};

/// Inputs of msaccucmp's columns.
struct MsaccucmpMeasures {
  MsaccucmpSums sums;
  BooleanCounts booleans;  ///< only if both sides are stored as HDF5 booleans
  std::string error;       ///< why the pair could not be measured to its end; then the rest is void
  bool is_done = false;    ///< false if it was not reached before the run was stopped
};

struct PairMeasures : MsaccucmpMeasures {
  PairStats stats;
};

struct MeasureOptions {
  std::int64_t memory_bytes = std::int64_t{256} << 20;  ///< for all buffers together
  bool wants_kl = true;  ///< the second pass over the data, which only KL divergence needs
};

struct MeasureHooks {
  /// Bytes read so far, of both sides of all pairs; called by one thread at a time.
  std::function<void(std::size_t pair, std::int64_t bytes)> progress = {};
  std::function<bool()> stop = {};  ///< true: finish what was begun and return
};

/// Receives the measures of a pair; called by one thread at a time.
using PairSink = std::function<void(std::size_t pair, PairMeasures&& found)>;

/// Measures all pairs with the available threads (see with_threads). Reads in order, computes in
/// parallel, and passes each pair to `done` when it is measured. Pairs that were not reached before
/// the run was stopped are not passed. The result has the same bits for any number of threads. A
/// pair that cannot be read does not stop the others.
void measure_pairs(std::size_t count, const std::function<TensorPair(std::size_t)>& pair,
                   const MeasureOptions& options, const MeasureHooks& hooks, const PairSink& done);

}  // namespace opbench
