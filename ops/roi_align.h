#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <span>
#include <utility>
#include <vector>

#include "ops/op.h"
#include "ops/terms.h"

namespace opbench {

/// The rules of a use of roi_align or of its gradient.
struct RoiRules {
  std::int64_t pooled_h, pooled_w, sampling_ratio;
  double scale;
  bool is_aligned;

  explicit RoiRules(const Attrs& attrs);
};

/// A sample between two places of an axis; low is -1 outside of the plane.
template <class Real>
struct RoiSample {
  std::int64_t low = -1, high = -1;
  Real at_low = 0, at_high = 0;
};

/// The samples of a box along one axis, in the order of torchvision's operations: bin b has samples
/// [b*grid, (b + 1)*grid).
template <class Real>
struct RoiAxis {
  std::int64_t grid = 0;
  std::vector<RoiSample<Real>> samples;

  /// `stretch` moves the box by that share of its coordinates.
  void place(Real first, Real last, std::int64_t bins, std::int64_t extent, const RoiRules& rules,
             Real stretch = 0) {
    const Real scale = static_cast<Real>(rules.scale);
    const Real offset = rules.is_aligned ? Real(0.5) : Real(0);
    const Real start = first * scale * (1 + stretch) - offset;
    Real length = last * scale * (1 + stretch) - offset - start;
    if (!rules.is_aligned) length = std::max(length, Real(1));
    length *= 1 + stretch;
    const Real bin = length / static_cast<Real>(bins);
    grid = rules.sampling_ratio;
    if (grid <= 0) grid = std::max<std::int64_t>(0, static_cast<std::int64_t>(std::ceil(bin)));
    samples.clear();
    for (std::int64_t i = 0; i < bins * grid; ++i) {
      const Real inside = (static_cast<Real>(i % grid) + Real(0.5)) * bin / static_cast<Real>(grid);
      samples.push_back(sample(start + static_cast<Real>(i / grid) * bin + inside, extent));
    }
  }

  static RoiSample<Real> sample(Real at, std::int64_t extent) {
    if (!(at >= -1 && at <= static_cast<Real>(extent))) return {};
    at = std::max(at, Real(0));
    const auto low = static_cast<std::int64_t>(at);
    if (low >= extent - 1) return {extent - 1, extent - 1, 1, 0};
    const Real rest = at - static_cast<Real>(low);
    return {low, low + 1, 1 - rest, rest};
  }
};

/// A box of a use, and its image.
struct Roi {
  double x1, y1, x2, y2;
  std::int64_t image;
};

/// The boxes of [boxes, 5], whose first number is the image, or of [boxes, 4], which has equally
/// many boxes for each image.
std::vector<Roi> rois_of(std::span<const double> values, const Dims& shape, std::int64_t images);

/// The samples of a box, and the divisor of their sums.
template <class Real>
struct RoiGrid {
  RoiAxis<Real> rows, columns;

  void place(const Roi& roi, const RoiRules& rules, std::int64_t h, std::int64_t w,
             Real stretch = 0) {
    rows.place(Real(roi.y1), Real(roi.y2), rules.pooled_h, h, rules, stretch);
    columns.place(Real(roi.x1), Real(roi.x2), rules.pooled_w, w, rules, stretch);
  }
  Real divisor() const {
    return static_cast<Real>(std::max<std::int64_t>(1, rows.grid * columns.grid));
  }
  /// Calls body(row sample, column sample) for the samples of a bin that are inside.
  template <class Body>
  void for_each(std::int64_t bin_row, std::int64_t bin_column, Body body) const {
    for (std::int64_t i = bin_row * rows.grid; i < (bin_row + 1) * rows.grid; ++i) {
      const RoiSample<Real>& y = rows.samples.data()[i];
      if (y.low < 0) continue;
      for (std::int64_t j = bin_column * columns.grid; j < (bin_column + 1) * columns.grid; ++j) {
        const RoiSample<Real>& x = columns.samples.data()[j];
        if (x.low >= 0) body(y, x);
      }
    }
  }
};

/// The places of a plane of width w that each bin depends on, by (bin, place), with their factors.
using RoiTaps = std::map<std::pair<std::int64_t, std::int64_t>, double>;

/// The taps of a box; Sum::terms: their magnitudes, with the rounding of coordinates.
RoiTaps roi_taps(const Roi& roi, const RoiRules& rules, std::int64_t h, std::int64_t w, Sum sum);

}  // namespace opbench
