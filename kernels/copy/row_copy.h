#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "kernels/kernel.h"

namespace opbench {

/// A piece of an output: `bytes` from byte `offset` of one repetition of an input.
struct RowSource {
  std::size_t input = 0;
  std::int64_t offset = 0;
  std::int64_t bytes = 0;
};

/// Outputs that are rows of inputs put one behind the other, the same way `outer` times: what
/// concat, split, index_select and the shuffles are.
struct RowPlan {
  std::int64_t outer = 1;
  std::vector<std::int64_t> input_strides;      ///< bytes of one repetition of each input
  std::vector<std::vector<RowSource>> outputs;  ///< rows of one repetition, in their order
};

/// Joins rows that follow each other in their input, and repetitions where everything does.
RowPlan joined(RowPlan plan);

/// A call that carries out `plan` on all threads; `stream`: past the cache.
Launch copy_rows(RowPlan plan, bool stream);

}  // namespace opbench
