#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace opbench {

/// Extents of a tensor, outermost first. Empty: a scalar.
using Dims = std::vector<std::int64_t>;

/// More dimensions than any operator has.
inline constexpr std::size_t kLargestRank = 16;

/// Product of the extents; 1 for a scalar.
/// Errors: throws Error if there are more than kLargestRank extents, one is negative or the product
/// overflows 63 bits.
std::int64_t element_count(const Dims& dims);

/// "128x64x7x7"; "scalar" for no dims.
std::string to_string(const Dims& dims);

/// Inverse of `to_string`. Errors: throws Error on anything else.
Dims parse_dims(std::string_view text);

/// Strides in elements of a dense row-major tensor.
Dims row_major_strides(const Dims& dims);

}  // namespace opbench
