#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "ops/op.h"

namespace opbench {

/// The view of a tensor whose elements a gate takes in pairs: [rows, 2, width]. The pairs are a,
/// the first half of an axis, and b, the second half; or neighbours along it.
struct GatePairs {
  std::int64_t rows, width;
  Dims result;         ///< the axis is halved
  std::int64_t outer;  ///< elements of the axes before `dim`

  /// Errors: throws Error that names the operator, the shape and the axis unless its extent is
  /// even.
  GatePairs(std::string_view op, const Dims& shape, std::int64_t dim, bool is_interleaved = false);

  std::int64_t count() const { return rows * width; }  ///< of the pairs
};

/// Errors: throws Error that names the operator unless `grad_output` has the shape of the result.
void require_gate_gradient(std::string_view op, const TensorDesc& grad_output,
                           const GatePairs& pairs);

/// The axis in a profile: the one that is halved between tensor `x` and tensor `y`.
LikelyAttrs likely_gate_dim(const Dims& x, const Dims& y);

/// Calls `body(row, first, done, count)` for the parts of rows of `width` elements in a range.
template <class Body>
void for_each_row_part(ElementRange range, std::int64_t width, Body body) {
  for (std::int64_t done = 0; done < range.count;) {
    const std::int64_t element = range.first + done, first = element % width;
    const std::int64_t count = std::min(width - first, range.count - done);
    body(element / width, first, static_cast<std::size_t>(done), count);
    done += count;
  }
}

/// y = of(a, b) of the first `live` pairs, and 0 of the others.
template <class Function>
Reference gate_reference(const InputReader& x, GatePairs pairs, std::int64_t live, Function of) {
  return [x, pairs = std::move(pairs), live, of](std::size_t, ElementRange range,
                                                 std::span<double> to) {
    std::vector<double> other;
    const std::int64_t width = pairs.width;
    for_each_row_part(
        range, width,
        [&](std::int64_t row, std::int64_t first, std::size_t done, std::int64_t count) {
          const std::span<double> y = to.subspan(done, static_cast<std::size_t>(count));
          other.resize(y.size());
          x.read({2 * row * width + first, count}, y);
          x.read({(2 * row + 1) * width + first, count}, other);
          for (std::size_t i = 0; i < y.size(); ++i) {
            const bool is_live = row * width + first + static_cast<std::int64_t>(i) < live;
            y[i] = is_live ? of(y[i], other[i]) : 0;
          }
        });
  };
}

/// The gradients of a and b, stored like x: of(dy, a, b) gives both.
template <class Function>
Reference gate_gradient(const InputReader& dy, const InputReader& x, GatePairs pairs,
                        std::int64_t live, Function of) {
  return [dy, x, pairs = std::move(pairs), live, of](std::size_t, ElementRange range,
                                                     std::span<double> to) {
    std::array<std::vector<double>, 3> in;
    const std::int64_t width = pairs.width;
    for_each_row_part(
        range, width,
        [&](std::int64_t line, std::int64_t first, std::size_t done, std::int64_t count) {
          const std::int64_t row = line / 2;
          const auto side = static_cast<std::size_t>(line % 2);
          for (std::vector<double>& values : in) values.resize(static_cast<std::size_t>(count));
          dy.read({row * width + first, count}, in[0]);
          x.read({2 * row * width + first, count}, in[1]);
          x.read({(2 * row + 1) * width + first, count}, in[2]);
          for (std::size_t i = 0; i < in[0].size(); ++i) {
            const bool is_live = row * width + first + static_cast<std::int64_t>(i) < live;
            to[done + i] = is_live ? of(in[0][i], in[1][i], in[2][i])[side] : 0;
          }
        });
  };
}

}  // namespace opbench
