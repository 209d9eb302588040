#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

#include "ops/op.h"

namespace opbench {

struct Box {
  double x1, y1, x2, y2;

  double area() const { return (x2 - x1) * (y2 - y1); }
};

/// The intersection of two boxes. It may be empty: then a side is negative.
inline Box intersection(const Box& a, const Box& b) {
  return {std::max(a.x1, b.x1), std::max(a.y1, b.y1), std::min(a.x2, b.x2), std::min(a.y2, b.y2)};
}

inline double shared_area(const Box& both) {
  return std::max(both.x2 - both.x1, 0.0) * std::max(both.y2 - both.y1, 0.0);
}

inline double iou(const Box& a, const Box& b) {
  const double inter = shared_area(intersection(a, b));
  return inter > 0 ? inter / (a.area() + b.area() - inter) : 0;
}

/// The change of a box's area if each coordinate changes by as much as itself. Independent rounding
/// errors add up like squares.
inline double area_rounding(const Box& box) {
  const double width = std::max(box.x2 - box.x1, 0.0), height = std::max(box.y2 - box.y1, 0.0);
  return std::hypot(height * std::hypot(box.x1, box.x2), width * std::hypot(box.y1, box.y2));
}

/// The terms of `iou`. Sides are differences of coordinates, which a device first rounds to fp16.
inline double iou_rounding(const Box& a, const Box& b) {
  const Box both = intersection(a, b);
  const double inter = shared_area(both), all = a.area() + b.area() - inter;
  if (!(all > 0)) return 0;
  const double areas = (area_rounding(a) + area_rounding(b)) * inter / all;
  return (area_rounding(both) * (1 + inter / all) + areas) / all;
}

/// The boxes of a tensor [boxes, 4].
inline std::vector<Box> read_boxes(const InputReader& boxes) {
  const std::vector<double> values = boxes.read_all();
  std::vector<Box> result;
  for (std::size_t i = 0; i < values.size(); i += 4) {
    result.push_back({values[i], values[i + 1], values[i + 2], values[i + 3]});
  }
  return result;
}

}  // namespace opbench
