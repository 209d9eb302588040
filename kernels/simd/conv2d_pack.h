#pragma once

#include <cstdint>

#include "tensor/dtype.h"

namespace opbench {

/// Where places lie and where they go, in elements. Those of phase p are the p-th after the first
/// of each step.
struct PlaceSteps {
  std::int64_t from = 16, to = 16;  ///< from a place of a phase to the next
  std::int64_t rows = 1, from_row = 0, to_row = 0;
  std::int64_t phases = 1, to_phase = 0;  ///< from a phase to the next
};

/// `count` places of every row and phase, of 16 channels each, as cube operands: where they go 4
/// elements apart only the first 4 channels. Memory is read in its order.
void load_places(DType dtype, const void* from, const PlaceSteps& steps, std::int64_t count,
                 float* to);

/// The first `rows` columns of 16 x 16 numbers as rows of `to`, `pitch` apart.
void transpose_block(const float* from, std::int64_t rows, std::int64_t pitch, float* to);

}  // namespace opbench
