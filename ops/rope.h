#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string_view>
#include <vector>

#include "ops/op.h"
#include "ops/terms.h"

namespace opbench {

/// The element that a rotary position embedding pairs with each element of a line:
/// y = p(x)*cos + r(x)*sin. With x1, x2 the halves, q1 to q4 the quarters, e and o the even and odd
/// elements:
enum class RotaryMode {
  half,             ///< p(x) = x, r(x) = (-x2, x1): GPT-NeoX, Llama
  interleave,       ///< p(x) = x, r(x) = pairs (-o, e): GPT-J
  quarter,          ///< p(x) = x, r(x) = (-q2, q1, -q4, q3)
  interleave_half,  ///< p(x) = (e, o), r(x) = (-o, e): DeepSeek
};

/// Attribute "mode": half, interleave, quarter or interleave-half.
AttrSpec rotary_mode_attr();
/// Its source in dumps.
inline constexpr std::string_view kRecordedRotaryMode =
    "mode: mode|rotary_mode as half|interleave|quarter|interleave-half";
RotaryMode rotary_mode(const Attrs& attrs);

/// The two elements of a line of x that make element i of y:
/// y[i] = x[kept]*cos[i] + sign*x[turned]*sin[i].
struct RotaryPlace {
  std::size_t kept, turned;
  double sign;
};
std::vector<RotaryPlace> rotary_places(RotaryMode mode, std::size_t extent);

/// Errors: throws Error unless the mode can rotate lines of `extent` elements.
void require_rotary_extent(std::string_view op, std::string_view input, std::int64_t extent,
                           RotaryMode mode);

/// Errors: throws Error unless `cos` and `sin` have one shape that is broadcast to the lines of
/// `x`: extents like those of `x` or 1, and at most its last extent.
void require_rotary_angles(std::string_view op, const TensorDesc& x, const TensorDesc& cos,
                           const TensorDesc& sin);

/// cos and sin for one line of x.
using RotaryAngles =
    std::function<void(std::int64_t line, std::span<double> cos, std::span<double> sin)>;

/// The angles that are broadcast to the lines of a tensor of shape `x`.
RotaryAngles broadcast_angles(const Dims& x, const InputReader& cos, const InputReader& sin);

/// The rotated lines of `width` elements of x, or the terms of each element. Elements after those
/// of `places` are copied.
Reference rotated(const InputReader& x, std::int64_t width, std::vector<RotaryPlace> places,
                  RotaryAngles angles, Sum sum);

/// The shape of cos and sin for a tensor of shape `x` by default: repeated over all axes before the
/// last two.
Dims usual_angles(const Dims& x);

/// The angles' data: cosines and sines.
Distribution rotary_data(const Problem& problem);

}  // namespace opbench
