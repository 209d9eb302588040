#pragma once

#include <cstddef>
#include <cstdint>

namespace opbench {

/// `lanes` x `pixels` elements that are evenly spaced in storage and in the logical order. Lane l,
/// pixel p lies at stored + l * lane_stride + p * pixel_stride, and comes as number
/// logical + l * logical_stride + p of the range that was asked for.
struct ElementRectangle {
  std::int64_t stored = 0;
  std::int64_t logical = 0;
  std::int64_t lanes = 1;
  std::int64_t pixels = 0;
  std::int64_t lane_stride = 0;
  std::int64_t pixel_stride = 0;
  std::int64_t logical_stride = 0;
};

/// Copies the rectangle from `storage` to the range at `to`, or back from the range at `from`; both
/// point to element 0. `element_bytes` is 1, 2, 4 or 8.
void read_rectangle(const ElementRectangle& rectangle, const void* storage, void* to,
                    std::size_t element_bytes);
void write_rectangle(const ElementRectangle& rectangle, const void* from, void* storage,
                     std::size_t element_bytes);

}  // namespace opbench
