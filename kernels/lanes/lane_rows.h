#pragma once

#include <cstdint>

namespace opbench {

/// Places of 16 channels side by side, `step` elements from one to the next.
struct LaneRow {
  const float* data;
  std::int64_t step;
};

/// sum[i*sum_step + lane] += x[i][lane]*factor[lane] for `count` places i of 16 lanes; `sum` does
/// not overlap the others. Products of cube operands are exact, so every instruction set gives the
/// same bits.
void add_scaled_row(std::int64_t count, LaneRow x, const float* factor, float* sum,
                    std::int64_t sum_step);

/// sums[lane] += x[i][lane]*y[i][lane] for `count` places i of 16 lanes, in their order.
void add_products_of_rows(std::int64_t count, LaneRow x, LaneRow y, float* sums);

}  // namespace opbench
