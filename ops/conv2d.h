#pragma once

#include <algorithm>
#include <functional>
#include <string_view>
#include <vector>

#include "ops/op.h"

namespace opbench {

/// A pair of numbers for height and width.
struct Pair {
  std::int64_t h = 1, w = 1;
};

/// A window that moves over a plane: the geometry of convolutions and pools along both axes.
struct Window {
  Pair kernel, stride, padding, dilation;
};

/// The extents of y[n, m] = sum over c, i, j of x[n, c, stride*oh - padding + dilation*i, ...] *
/// weight[m, c, i, j]: x [n, c, h, w], weight [m, c/groups, kernel], y [n, m, oh, ow].
struct Conv2d {
  std::int64_t n, c, h, w, m, oh, ow, groups;
  Window window;

  std::int64_t group_c() const { return c / groups; }
  std::int64_t group_m() const { return m / groups; }
  std::int64_t taps() const { return window.kernel.h * window.kernel.w; }
  /// The number of products in one element of y.
  std::int64_t terms() const { return group_c() * taps(); }
  double operations() const { return 2.0 * double(n * m * oh * ow) * double(terms()); }
};

/// stride, padding, dilation (one number, or one for each axis) and groups, for windows with 1 to 3
/// axes.
template <std::size_t kAxes>
std::vector<AttrSpec> conv_attrs();
std::vector<AttrSpec> conv2d_attrs();

/// Such an attribute, with a number for each axis.
Dims numbers_of(const Attrs& attrs, std::string_view name, std::size_t axes);

/// An attribute of one or two numbers.
Pair pair_of(const Attrs& attrs, std::string_view name);
/// The rule of such an attribute: empty if `value` holds one or two numbers of at least `least`,
/// else the error.
std::string pair_problem(const AttrValue& value, std::int64_t least);

/// An attribute of two numbers that may be empty: [].
AttrSpec optional_pair_attr(std::string_view name, std::string_view help);

/// The number of windows of `kernel` in `extent`; less than 1 if no window fits.
inline std::int64_t window_count(std::int64_t extent, std::int64_t kernel, std::int64_t stride,
                                 std::int64_t padding, std::int64_t dilation) {
  const std::int64_t room = extent + 2 * padding - dilation * (kernel - 1) - 1;
  return room < 0 ? 0 : room / stride + 1;
}

/// The smallest extent that has `count` windows.
inline std::int64_t least_extent(std::int64_t count, std::int64_t kernel, std::int64_t stride,
                                 std::int64_t padding, std::int64_t dilation) {
  return (count - 1) * stride + dilation * (kernel - 1) + 1 - 2 * padding;
}

/// The largest kernel with which `count` windows fit.
inline std::int64_t largest_kernel(std::int64_t extent, std::int64_t count, std::int64_t stride,
                                   std::int64_t padding, std::int64_t dilation) {
  return (extent + 2 * padding - 1 - (count - 1) * stride) / dilation + 1;
}

/// The shape of y for x [N, C, ...] and weight [M, C/groups, ...] with `axes` further axes. Errors:
/// throws Error that names the operator, the tensor and what is allowed.
Dims convolved(std::string_view op, std::size_t axes, const Dims& x, const Dims& weight,
               const Attrs& attrs);

/// The geometry of x and weight of these shapes with these attributes. Errors: like `convolved`.
Conv2d conv2d_shape(std::string_view op, const Dims& x, const Dims& weight, const Attrs& attrs);

/// The geometry of a use of conv2d or of its gradients.
Conv2d conv2d_shape(const Problem& problem);

/// Attributes that make conv2d_grad_input compute conv_transpose2d without its bias.
Attrs transposed_attrs(const Dims& x, const Dims& weight, const Attrs& attrs);

/// The traffic of a use of conv2d or of its gradients: every tensor is read or written once.
Traffic conv2d_traffic(const Problem& problem);

/// True for a use of conv2d or of its gradients with one group for each channel.
bool is_depthwise(const Problem& problem);

/// True for grouped weights: the framework does not convert them when it stores parameters for
/// their kernels.
bool keeps_grouped_weight(const Attrs& attrs);

/// The output rule of conv2d and its gradients: `on_device` on the device, else the format that the
/// kernel writes.
FormatChoice conv2d_output(const FormatQuery& query, FormatChoice on_device);

/// The place of tap (i, j) of the kernel on x: rows [first, last) and columns [begin, end) of y.
/// Row `oh` of y meets row oh * stride + from_h of x; column `ow` meets column ow * stride +
/// from_w.
struct TapRows {
  std::int64_t first = 0, last = 0, begin = 0, end = 0;
  std::int64_t from_h, from_w;

  TapRows(const Conv2d& conv, std::int64_t i, std::int64_t j)
      : from_h(i * conv.window.dilation.h - conv.window.padding.h),
        from_w(j * conv.window.dilation.w - conv.window.padding.w) {
    const Pair& stride = conv.window.stride;
    const auto reach = [](std::int64_t from, std::int64_t step) {
      return from >= 0 ? 0 : (step - 1 - from) / step;
    };
    const auto stop = [](std::int64_t from, std::int64_t step, std::int64_t x, std::int64_t y) {
      return x > from ? std::min(y, (x - 1 - from) / step + 1) : 0;
    };
    begin = reach(from_w, stride.w);
    end = stop(from_w, stride.w, conv.w, conv.ow);
    first = reach(from_h, stride.h);
    last = begin < end ? stop(from_h, stride.h, conv.h, conv.oh) : first;
  }
};

/// Calls row(oh, ih, begin, end, first) for each row of y that has tap (i, j) of the kernel inside
/// x: columns [begin, end) of row `oh` of y meet columns first, first + stride, ... of row `ih` of
/// x.
template <class Row>
void for_each_tap_row(const Conv2d& conv, std::int64_t i, std::int64_t j, Row row) {
  const TapRows rows(conv, i, j);
  const Pair& stride = conv.window.stride;
  for (std::int64_t oh = rows.first; oh < rows.last; ++oh) {
    row(oh, oh * stride.h + rows.from_h, rows.begin, rows.end, rows.begin * stride.w + rows.from_w);
  }
}

inline const std::vector<Format> kConv2dFormats = {Format::NCHW, Format::NC1HWC0};
inline const std::vector<Format> kWeightFormats = {Format::NCHW, Format::FRACTAL_Z};

/// Stores the weight of a case to fit activations in the format of `x`: FRACTAL_Z with the
/// operator's groups for NC1HWC0, else plain.
void store_weight_beside(const TensorDesc& x, const Attrs& attrs, TensorDesc& weight);

/// Errors: throws Error if a weight in FRACTAL_Z is packed for another number of groups.
void require_groups_stored(std::string_view op, const TensorDesc& weight, std::int64_t groups);

/// Cuts a range of elements at the ends of planes of `plane` elements: body(index of the plane,
/// part within the plane, position of the part in the range).
void for_each_plane(
    ElementRange range, std::int64_t plane,
    const std::function<void(std::int64_t index, ElementRange part, std::int64_t at)>& body);

}  // namespace opbench
