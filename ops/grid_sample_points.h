#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "ops/grid_sample.h"
#include "ops/terms.h"

namespace opbench {

/// A pair of neighbours and the share of the second, or the nearest element, whose share is 0.
struct GridCell {
  std::int64_t first = 0;
  double share = 0, slope = 0;
};

/// The cell of a coordinate, and those on both sides that rounding may lead to.
struct GridCells {
  static constexpr double kRoundings = 8;  // of a position, in fp32
  std::array<GridCell, 3> all;
  double size = 0;       ///< magnitude of the position's terms
  bool is_lost = false;  ///< rounding errors may lead to any element

  GridCells(const GridAxis<double>& axis, double coordinate, double roundoff, bool is_nearest)
      : size(axis.size(coordinate)) {
    const auto extent = static_cast<double>(axis.extent());
    const double position = axis.stated(coordinate), moved = kRoundings * roundoff * size;
    const bool is_outside = position - moved > extent || position + moved < -1;
    is_lost = !(moved < 0.25) && (axis.is_reflected() || !is_outside);
    const double shifts[] = {0, -moved, moved};
    for (std::size_t i = 0; i < all.size(); ++i) {
      const auto [at, slope] = axis.sampled(is_lost ? position : position + shifts[i]);
      // Positions far outside stay outside, and fit an integer.
      const double place = std::isnan(at) ? -2 : std::clamp(at, -2.0, extent + 1);
      const double first = is_nearest ? std::nearbyint(place) : std::floor(place);
      all[i] = {static_cast<std::int64_t>(first), is_nearest ? 0 : place - first, slope};
    }
  }

  const GridCell& exact() const { return all[0]; }
};

/// The cells of a point.
struct GridPoint {
  GridCells x, y;
};

/// A plane that is 0 outside.
struct SampledPlane {
  const double* values;
  std::int64_t h, w;

  double at(std::int64_t i, std::int64_t j) const {
    return i >= 0 && i < h && j >= 0 && j < w ? values[i * w + j] : 0;
  }
  double greatest() const {
    double result = 0;
    for (std::int64_t i = 0; i < h * w; ++i) result = std::fmax(result, std::fabs(values[i]));
    return result;
  }
  /// Between four elements.
  double sample(Sum sum, const GridCell& x, const GridCell& y) const {
    const auto row = [&](std::int64_t i) {
      return (1 - x.share) * summand(sum, at(i, x.first)) +
             x.share * summand(sum, at(i, x.first + 1));
    };
    return (1 - y.share) * row(y.first) + y.share * row(y.first + 1);
  }
  /// The change of `sample` along x or y.
  double along_x(Sum sum, const GridCell& x, const GridCell& y) const {
    const auto change = [&](std::int64_t i) {
      return subtracted(sum, at(i, x.first + 1), at(i, x.first));
    };
    return (1 - y.share) * change(y.first) + y.share * change(y.first + 1);
  }
  double along_y(Sum sum, const GridCell& x, const GridCell& y) const {
    const auto change = [&](std::int64_t j) {
      return subtracted(sum, at(y.first + 1, j), at(y.first, j));
    };
    return (1 - x.share) * change(x.first) + x.share * change(x.first + 1);
  }
  /// The change of `along_x` along y.
  double across(const GridCell& x, const GridCell& y) const {
    return at(y.first, x.first) - at(y.first, x.first + 1) - at(y.first + 1, x.first) +
           at(y.first + 1, x.first + 1);
  }
};

/// The planes and the grid of a use in fp64.
struct SampledPlanes : GridSample {
  std::vector<double> input, grid;
  GridAxis<double> x, y;
  double roundoff;  ///< of the positions on a device

  SampledPlanes(std::string_view op, const InputReader& of_input, const InputReader& of_grid,
                const Attrs& attrs)
      : GridSample(op, of_input.desc().shape, of_grid.desc().shape, attrs),
        input(of_input.read_all()),
        grid(of_grid.read_all()),
        x(w, attrs),
        y(h, attrs),
        roundoff(of_grid.desc().dtype == DType::fp64 ? 0x1p-53 : 0x1p-24) {}

  SampledPlane plane_of(std::int64_t image, std::int64_t channel) const {
    return {input.data() + (image * c + channel) * plane(), h, w};
  }
  GridPoint point(std::int64_t image, std::int64_t i) const {
    const double* const at = grid.data() + (image * points() + i) * 2;
    return {{x, at[0], roundoff, is_nearest}, {y, at[1], roundoff, is_nearest}};
  }
};

}  // namespace opbench
