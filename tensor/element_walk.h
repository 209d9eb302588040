#pragma once

#include <cstdint>
#include <functional>

#include "tensor/element_map.h"
#include "tensor/elements.h"

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

/// Cuts a logical range into few rectangles and visits each; every element once, not in order.
/// Lanes run along the axis that is dense in storage where the last logical one is not, so that a
/// cache line is not fetched once for each of its elements.
void for_each_rectangle(const ElementMap& map, ElementRange range,
                        const std::function<void(const ElementRectangle&)>& visit);

/// Elements in logical order after which a rectangle with as many lanes as a cut block has (16 if
/// nothing is cut) is complete; ranges of multiples of it are walked best. At least 1.
std::int64_t preferred_range(const ElementMap& map);

}  // namespace opbench
