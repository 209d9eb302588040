#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "kernels/kernel.h"

namespace opbench {

/// A part of an output: `bytes` from byte `offset` of one repetition of an input.
struct RowSource {
  std::size_t input = 0;
  std::int64_t offset = 0;
  std::int64_t bytes = 0;
};

/// Outputs that consist of consecutive rows of inputs, in the same way `outer` times: concat,
/// split, index_select and the shuffles.
struct RowPlan {
  std::int64_t outer = 1;
  std::vector<std::int64_t> input_strides;      ///< bytes of one repetition of each input
  std::vector<std::vector<RowSource>> outputs;  ///< rows of one repetition, in order
};

/// Joins rows that are adjacent in their input, and repetitions if they are adjacent as well.
RowPlan joined(RowPlan plan);

/// A launch that runs `plan` on all threads; `stream`: past the cache.
Launch copy_rows(RowPlan plan, bool stream);

}  // namespace opbench
