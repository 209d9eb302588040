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

/// One side of a pair: `read` gives stored elements, in logical order. `dtype` says what they mean
/// (uint8 stored as int8 is read back right).
struct PairSide {
  StoredType stored = StoredType::none;
  DType dtype = DType::fp32;
  std::function<void(ElementRange range, void* to)> read;
  /// True if all that `read` would give is zero bytes, without reading; empty where nobody knows.
  std::function<bool(ElementRange range)> is_hole = {};
};

/// Two tensors of as many elements.
struct TensorPair {
  PairSide actual, expected;
  std::int64_t count = 0;
  Tolerance tolerance;
};

/// What msaccucmp's columns are made from.
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
  /// Bytes read so far, of both sides of all pairs; one thread at a time.
  std::function<void(std::size_t pair, std::int64_t bytes)> progress = {};
  std::function<bool()> stop = {};  ///< true: finish what was begun and return
};

/// Takes what was measured of a pair; one thread at a time.
using PairSink = std::function<void(std::size_t pair, PairMeasures&& found)>;

/// Measures all pairs with the threads at hand (see with_threads): reads in order, computes beside
/// it, and hands each to `done` as soon as it is measured; none that was not reached before the run
/// was stopped. The same bits for any number of threads. One pair that cannot be read does not stop
/// the others.
void measure_pairs(std::size_t count, const std::function<TensorPair(std::size_t)>& pair,
                   const MeasureOptions& options, const MeasureHooks& hooks, const PairSink& done);

}  // namespace opbench
