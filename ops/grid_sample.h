#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string_view>
#include <vector>

#include "ops/movement.h"
#include "ops/op.h"

namespace opbench {

/// A position along an axis of a plane, and its change per change of the grid's coordinate.
template <class T>
struct GridPosition {
  T at = 0, slope = 0;
};

/// The meaning of the grid's coordinates along an axis of `extent` elements. -1 and 1 are the outer
/// edges of the first and last element, or their centres with aligned corners. Positions outside
/// are cut to the border or reflected at the edges. Source: ATen, GridSampler.h.
template <class T>
class GridAxis {
 public:
  GridAxis() = default;
  GridAxis(std::int64_t extent, const Attrs& attrs)
      : extent_(extent),
        aligned_(attrs.flag("align_corners")),
        is_cut_(attrs.word("padding_mode") != "zeros"),
        is_reflected_(attrs.word("padding_mode") == "reflection") {}

  std::int64_t extent() const { return extent_; }
  bool is_reflected() const { return is_reflected_; }
  /// The slope without borders.
  T scale() const { return static_cast<T>(aligned_ ? extent_ - 1 : extent_) / 2; }
  /// The position that the coordinate states.
  T stated(T coordinate) const {
    const auto size = static_cast<T>(extent_);
    return aligned_ ? (coordinate + 1) / 2 * (size - 1) : ((coordinate + 1) * size - 1) / 2;
  }
  /// The place that is sampled for a stated position.
  GridPosition<T> sampled(T position) const {
    GridPosition<T> result{position, scale()};
    if (is_reflected_) result = reflected(result);
    return is_cut_ ? cut(result) : result;
  }
  /// The sum of the magnitudes of a position's terms.
  T size(T coordinate) const {
    return (std::fabs(coordinate) + 1) * scale() + T{0.5} +
           static_cast<T>(is_reflected_ ? extent_ : 0);
  }

 private:
  GridPosition<T> cut(GridPosition<T> position) const {
    const auto last = static_cast<T>(extent_ - 1);
    if (!(position.at > 0)) return {0, 0};  // also NaN
    return position.at >= last ? GridPosition<T>{last, 0} : position;
  }

  GridPosition<T> reflected(GridPosition<T> position) const {
    const T low = aligned_ ? T{0} : T{-0.5};
    const auto span = static_cast<T>(aligned_ ? extent_ - 1 : extent_);
    if (span == 0) return {0, 0};
    const T distance = std::fabs(position.at - low), rest = std::fmod(distance, span);
    const bool is_turned = std::fmod(std::floor(distance / span), T{2}) != 0;
    T slope = position.at < low ? -position.slope : position.slope;
    if (is_turned) slope = -slope;
    return {is_turned ? span - rest + low : rest + low, slope};
  }

  std::int64_t extent_ = 1;
  bool aligned_ = false, is_cut_ = false, is_reflected_ = false;
};

/// The extents of a use: input [n, c, h, w], grid [n, oh, ow, 2] of (x, y), output [n, c, oh, ow].
struct GridSample {
  std::int64_t n, c, h, w, oh, ow;
  bool is_nearest;

  /// Errors: throws Error that names the operator, the input and what is allowed.
  GridSample(std::string_view op, const Dims& input, const Dims& grid, const Attrs& attrs);

  std::int64_t points() const { return oh * ow; }
  std::int64_t plane() const { return h * w; }
};

/// mode, padding_mode and align_corners, and their sources in dumps.
std::vector<AttrSpec> grid_sample_attrs();
inline constexpr std::string_view kGridSampleAttrs =
    "mode: mode|interpolation_mode as bilinear|nearest, padding_mode: padding_mode as "
    "zeros|border|reflection, align_corners";

/// Random points, some of them outside.
Distribution grid_data(const Problem& problem);

/// An input of `shape`, and a grid with as many points as its planes have elements.
std::vector<Dims> grid_sample_inputs(const Dims& shape, const Attrs& attrs);

/// About 10 operations for a coordinate, and `kOperations` for each channel of a point. `kInput`:
/// the input before the grid.
template <int kOperations, std::size_t kInput>
Traffic grid_sample_traffic(const Problem& problem) {
  Traffic traffic = movement_traffic(problem);
  const double points = double(problem.inputs[kInput + 1].elements()) / 2;
  traffic.operations = points * (20 + kOperations * double(problem.inputs[kInput].shape[1]));
  return traffic;
}

}  // namespace opbench
