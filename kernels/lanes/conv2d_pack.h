#pragma once

#include <cstdint>

#include "tensor/dtype.h"

namespace opbench {

/// `count` places of 16 channels, `step` elements apart, as cube operands side by side.
void load_places(DType dtype, const void* from, std::int64_t step, std::int64_t count, float* to);

/// The first `rows` of 16 x 16 numbers to rows `pitch` apart.
void copy_rows(const float* from, std::int64_t rows, std::int64_t pitch, float* to);

/// The same with rows and columns exchanged.
void transpose_block(const float* from, std::int64_t rows, std::int64_t pitch, float* to);

}  // namespace opbench
