#include "judge/reordered.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "tensor/philox.h"

namespace opbench {
namespace {

/// A tensor as `outer` times `extent` slices of `inner` elements.
struct Axis {
  std::size_t outer, extent, inner;

  std::size_t at(std::size_t o, std::size_t slice, std::size_t i) const {
    return (o * extent + slice) * inner + i;
  }
};

Axis axis_of(const Dims& shape, std::size_t axis) {
  const auto product = [](auto begin, auto end) {
    return static_cast<std::size_t>(
        std::accumulate(begin, end, std::int64_t{1}, std::multiplies<>()));
  };
  const auto here = shape.begin() + static_cast<std::ptrdiff_t>(axis);
  return {product(shape.begin(), here), static_cast<std::size_t>(*here),
          product(here + 1, shape.end())};
}

// A random number for each place in a slice.
std::vector<double> weights_of(const Axis& axis) {
  std::vector<double> weights(axis.outer * axis.inner);
  for (std::size_t i = 0; i < weights.size(); i += 4) {
    const std::uint64_t block = i / 4;
    const auto drawn = philox4x32(
        {static_cast<std::uint32_t>(block), static_cast<std::uint32_t>(block >> 32), 0, 0}, {0, 0});
    for (std::size_t k = i; k < std::min(i + 4, weights.size()); ++k) weights[k] = drawn[k % 4];
  }
  return weights;
}

// One number for each slice that other values, or the same at other places, do not have.
std::vector<double> signatures(std::span<const double> values, const Axis& axis,
                               std::span<const double> weights) {
  std::vector<double> sums(axis.extent);
  for (std::size_t o = 0; o < axis.outer; ++o) {
    const double* const weight = weights.data() + o * axis.inner;
    for (std::size_t s = 0; s < axis.extent; ++s) {
      const double* const slice = values.data() + axis.at(o, s, 0);
      for (std::size_t i = 0; i < axis.inner; ++i) sums[s] += weight[i] * slice[i];
    }
  }
  return sums;
}

std::vector<std::size_t> order_of(const std::vector<double>& signatures) {
  std::vector<std::size_t> order(signatures.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return signatures[a] < signatures[b]; });
  return order;
}

// Sum of |actual - expected|, where slice actual_order[n] is held against expected_order[n].
double error_in(std::span<const double> actual, std::span<const double> expected, const Axis& axis,
                const std::vector<std::size_t>& actual_order,
                const std::vector<std::size_t>& expected_order) {
  double sum = 0;
  for (std::size_t o = 0; o < axis.outer; ++o) {
    for (std::size_t n = 0; n < axis.extent; ++n) {
      for (std::size_t i = 0; i < axis.inner; ++i) {
        sum += std::fabs(actual[axis.at(o, actual_order[n], i)] -
                         expected[axis.at(o, expected_order[n], i)]);
      }
    }
  }
  return sum;
}

}  // namespace

std::optional<std::size_t> reordered_axis(std::span<const double> actual,
                                          std::span<const double> expected, const Dims& shape) {
  constexpr double kLeft = 0.05;
  constexpr std::size_t kMostSlices = std::size_t{1} << 16;  // more take long to sort
  double as_they_are = 0;
  for (std::size_t i = 0; i < actual.size(); ++i) as_they_are += std::fabs(actual[i] - expected[i]);
  for (std::size_t k = 0; k < shape.size(); ++k) {
    const Axis axis = axis_of(shape, k);
    if (axis.extent < 2 || axis.extent > kMostSlices) continue;
    const std::vector<double> weights = weights_of(axis);
    const std::vector<std::size_t> mine = order_of(signatures(actual, axis, weights));
    const std::vector<std::size_t> theirs = order_of(signatures(expected, axis, weights));
    if (mine == theirs) continue;
    if (error_in(actual, expected, axis, mine, theirs) <= kLeft * as_they_are) return k;
  }
  return std::nullopt;
}

}  // namespace opbench
