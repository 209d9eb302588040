#pragma once

#include <cstddef>
#include <cstdint>

#include "judge/measure_chunk.h"

namespace opbench {

/// The place of a block and the results before it.
struct BlockPlace {
  const PairRules& rules;
  const PairStats& before;  ///< of the elements before: worse ones than these are looked for
  std::int64_t first = 0;
  std::size_t count = 0;  ///< 1 to kMeasureBlock
  BlockScratch& scratch;
};

/// Measures a block of values with their real types. `sums` also receives the results of
/// msaccucmp's first pass, if it uses these values.
PairStats measure_block(const BlockPlace& place, const float* actual, const float* expected,
                        MsaccucmpSums* sums = nullptr);
PairStats measure_block(const BlockPlace& place, const double* actual, const double* expected);

/// Measures only msaccucmp's first pass.
MsaccucmpSums measure_block_sums(const BlockPlace& place, const float* x, const float* y);

}  // namespace opbench
