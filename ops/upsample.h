#pragma once

#include <algorithm>
#include <cmath>
#include <span>
#include <string_view>
#include <vector>

#include "ops/conv2d.h"
#include "ops/op.h"

namespace opbench {

/// The shape rules of operators that resize planes. The attribute `output_size` of the operator, or
/// `input_size` of its gradient, may be empty: the planes are twice as high and wide, or half.
/// Errors: throws Error that names the operator, the input or attribute, and what is allowed.
std::vector<TensorDesc> infer_upsample(std::string_view op, const TensorDesc& x,
                                       const Attrs& attrs);
std::vector<TensorDesc> infer_upsample_grad(std::string_view op, const TensorDesc& dy,
                                            const Attrs& attrs);

/// The size, scale_h and scale_w.
std::vector<AttrSpec> upsample_attrs();
std::vector<AttrSpec> upsample_grad_attrs();

/// The call of the gradient, with the size of x.
std::vector<GradientCall> upsample_gradient(std::string_view gradient, const Problem& forward);

/// A place of a resized axis between two elements: (1 - share)*first + share*second. `T` is the
/// type of the computation.
template <class T>
struct LinearPlace {
  std::int64_t first = 0, second = 0;
  T share = 0;
  T size = 0;  ///< magnitude of the position's terms, to which its rounding errors are relative
};

/// The places of an axis of `from` elements that is resized to `to`: at (i + 1/2)/scale - 1/2, at
/// least 0, or at i*(from - 1)/(to - 1) with aligned corners. scale is the quotient of the extents
/// if `scale_factor` is 0. An axis of equal extents is copied. Source: ATen, UpSample.h.
template <class T>
std::vector<LinearPlace<T>> linear_places(std::int64_t from, std::int64_t to, bool align_corners,
                                          double scale_factor) {
  std::vector<LinearPlace<T>> places;
  T step = scale_factor > 0 ? static_cast<T>(1 / scale_factor)
                            : static_cast<T>(from) / static_cast<T>(to);
  if (align_corners) step = to > 1 ? static_cast<T>(from - 1) / static_cast<T>(to - 1) : T{0};
  for (std::int64_t i = 0; i < to; ++i) {
    if (from == to) {
      places.push_back({i, i, 0, 0});
      continue;
    }
    const T size = step * (static_cast<T>(i) + (align_corners ? T{0} : T{0.5}));
    const T at = align_corners ? size : std::max(size - T{0.5}, T{0});
    const auto last = static_cast<T>(from - 1);
    const auto first = static_cast<std::int64_t>(at < last ? at : last);
    places.push_back({first, std::min(first + 1, from - 1),
                      std::clamp(at - static_cast<T>(first), T{0}, T{1}), size});
  }
  return places;
}

/// The places of both axes of planes: of the smaller or larger plane `h` by `w` that is read, or
/// whose gradient is computed.
template <class T>
struct LinearPlanes {
  std::int64_t planes, h, w;
  std::vector<LinearPlace<T>> rows, columns;

  /// For x and y, or their gradients.
  LinearPlanes(const Dims& x, const Dims& y, const Attrs& attrs)
      : planes(x[0] * x[1]), h(x[2]), w(x[3]) {
    if (element_count(y) == 0) return;
    const bool align_corners = attrs.flag("align_corners");
    rows = linear_places<T>(x[2], y[2], align_corners, attrs.number("scale_h"));
    columns = linear_places<T>(x[3], y[3], align_corners, attrs.number("scale_w"));
  }
};

}  // namespace opbench
