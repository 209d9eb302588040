#pragma once

#include <cstdint>

#include "tensor/dtype.h"

namespace opbench {

/// `count` places of 16 channels, `step` elements apart, as cube operands `pitch` apart: with a
/// pitch of 4 only the first 4 channels.
void load_places(DType dtype, const void* from, std::int64_t step, std::int64_t count, float* to,
                 std::int64_t pitch = 16);

/// The first `rows` columns of 16 x 16 numbers as rows of `to`, `pitch` apart.
void transpose_block(const float* from, std::int64_t rows, std::int64_t pitch, float* to);

}  // namespace opbench
