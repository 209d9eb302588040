#pragma once

#include <cstddef>
#include <cstdint>

#include "judge/measure_chunk.h"

namespace opbench {

/// Where a block lies and what came before it.
struct BlockPlace {
  const PairRules& rules;
  const PairStats& before;  ///< of the elements before: worse ones than these are looked for
  std::int64_t first = 0;
  std::size_t count = 0;  ///< 1 to kMeasureBlock
  BlockScratch& scratch;
};

/// A block of values as they are meant. With `sums` what msaccucmp's first pass finds, too, where
/// it sees these values.
PairStats measure_block(const BlockPlace& place, const float* actual, const float* expected,
                        MsaccucmpSums* sums = nullptr);
PairStats measure_block(const BlockPlace& place, const double* actual, const double* expected);

/// msaccucmp's first pass alone.
MsaccucmpSums measure_block_sums(const BlockPlace& place, const float* x, const float* y);

}  // namespace opbench
