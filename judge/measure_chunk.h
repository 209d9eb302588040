#pragma once

#include <cstdint>

#include "judge/measure_elements.h"
#include "judge/measure_lanes.h"
#include "judge/measure_pairs.h"
#include "judge/pair_rules.h"

namespace opbench {

/// Elements that are read together, and the most elements of a pair that stay in memory between
/// both passes. Like the block, it affects the result.
inline constexpr std::int64_t kMeasureChunk = std::int64_t{1} << 20;

/// One block in each form for measuring.
struct BlockScratch {
  alignas(64) float x[kMeasureBlock], y[kMeasureBlock];  ///< as msaccucmp sees it
  alignas(64) float actual[kMeasureBlock], expected[kMeasureBlock];
  alignas(64) double wide_actual[kMeasureBlock], wide_expected[kMeasureBlock];
  alignas(64) float finite_actual[kMeasureBlock], finite_expected[kMeasureBlock];
  alignas(64) double wide_finite_actual[kMeasureBlock], wide_finite_expected[kMeasureBlock];
  alignas(64) double errors[kMeasureBlock];
  WideInteger integers[kMeasureBlock];
};

/// The results for some elements of a pair.
struct ChunkMeasures {
  PairStats stats;
  MsaccucmpSums sums;
  BooleanCounts booleans;

  void merge(const ChunkMeasures& later);
};

/// Stored elements of both sides; `first` is the index of the first in its tensor.
struct PairChunk {
  const PairRules* rules = nullptr;
  std::int64_t first = 0, count = 0;
  const void* actual = nullptr;
  const void* expected = nullptr;
};

/// The first pass: all but KL divergence.
ChunkMeasures measure_chunk(const PairChunk& chunk, BlockScratch& scratch);

/// The first pass without the numbers that only msaccucmp's metrics need.
PairStats measure_chunk_stats(const PairChunk& chunk, BlockScratch& scratch);

/// The scales of both sides for the second pass, from the first pass over all elements.
KlScales kl_scales(const MsaccucmpSums& sums);

/// True if a NaN or an Inf makes the divergence NaN, so that no second pass is needed.
bool has_no_divergence(const MsaccucmpSums& sums);

/// The second pass.
KlSums measure_chunk_kl(const PairChunk& chunk, const KlScales& scales, BlockScratch& scratch);

/// The sums of a pair without a divergence.
KlSums no_divergence();

void set_kl(MsaccucmpSums& sums, const KlSums& second_pass);

}  // namespace opbench
