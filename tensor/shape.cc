#include "tensor/shape.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <numeric>

#include "tensor/error.h"

namespace opbench {
namespace {

std::size_t checked_axis(const StridedView& view, std::int64_t axis) {
  const std::int64_t rank = std::ssize(view.shape);
  if (axis >= 0 && axis < rank) return static_cast<std::size_t>(axis);
  throw Error(fmt::format("axis {} is out of range for shape {}; allowed: 0 to {}", axis,
                          to_string(view.shape), rank - 1));
}

[[noreturn]] void throw_no_shape(std::string_view text) {
  throw Error(fmt::format(
      "'{}' is not a shape; allowed: whole numbers joined by x, as in 128x64x7x7, or scalar",
      text));
}

}  // namespace

StridedView dense_view(const Dims& shape) { return {shape, row_major_strides(shape), 0}; }

StridedView permute(const StridedView& view, const Dims& perm) {
  Dims axes(view.shape.size());
  std::iota(axes.begin(), axes.end(), 0);
  if (!std::is_permutation(perm.begin(), perm.end(), axes.begin(), axes.end())) {
    throw Error(fmt::format("axes ({}) are not a permutation of the {} axes of shape {}",
                            fmt::join(perm, ","), axes.size(), to_string(view.shape)));
  }
  StridedView result = view;
  for (std::size_t k = 0; k < perm.size(); ++k) {
    result.shape[k] = view.shape[static_cast<std::size_t>(perm[k])];
    result.strides[k] = view.strides[static_cast<std::size_t>(perm[k])];
  }
  return result;
}

StridedView transpose(const StridedView& view, std::int64_t axis_a, std::int64_t axis_b) {
  const std::size_t a = checked_axis(view, axis_a), b = checked_axis(view, axis_b);
  StridedView result = view;
  std::swap(result.shape[a], result.shape[b]);
  std::swap(result.strides[a], result.strides[b]);
  return result;
}

StridedView slice(const StridedView& view, std::int64_t axis, std::int64_t start,
                  std::int64_t length, std::int64_t step) {
  const std::size_t a = checked_axis(view, axis);
  const std::int64_t size = view.shape[a];
  const bool positive = start >= 0 && start <= size && length >= 0 && step >= 1;
  // The condition start + (length - 1) * step < size, written without overflow.
  if (!positive || (length > 0 && (start == size || (length - 1) > (size - 1 - start) / step))) {
    throw Error(fmt::format("slice of {} from {} by {} leaves axis {} of shape {}", length, start,
                            step, axis, to_string(view.shape)));
  }
  StridedView result = view;
  result.offset += start * view.strides[a];
  result.shape[a] = length;
  if (length > 1) result.strides[a] *= step;
  return result;
}

StridedView select(const StridedView& view, std::int64_t axis, std::int64_t index) {
  const std::size_t a = checked_axis(view, axis);
  if (index < 0 || index >= view.shape[a]) {
    throw Error(
        fmt::format("index {} leaves axis {} of shape {}", index, axis, to_string(view.shape)));
  }
  StridedView result = view;
  result.offset += index * view.strides[a];
  result.shape.erase(result.shape.begin() + axis);
  result.strides.erase(result.strides.begin() + axis);
  return result;
}

StridedView broadcast_to(const StridedView& view, const Dims& shape) {
  const auto fail = [&] {
    return Error(
        fmt::format("shape {} does not broadcast to {}", to_string(view.shape), to_string(shape)));
  };
  if (shape.size() < view.shape.size()) throw fail();
  element_count(shape);
  const std::size_t added = shape.size() - view.shape.size();
  StridedView result{shape, Dims(shape.size(), 0), view.offset};
  for (std::size_t k = 0; k < view.shape.size(); ++k) {
    if (view.shape[k] == shape[k + added]) {
      result.strides[k + added] = view.strides[k];
    } else if (view.shape[k] != 1) {
      throw fail();
    }
  }
  return result;
}

bool is_contiguous(const StridedView& view) {
  std::int64_t expected = 1;
  bool ordered = true;
  for (std::size_t axis = view.shape.size(); axis-- > 0;) {
    if (view.shape[axis] == 0) return true;
    if (view.shape[axis] == 1) continue;
    ordered = ordered && view.strides[axis] == expected;
    expected *= view.shape[axis];
  }
  return ordered;
}

std::int64_t extent(const StridedView& view) {
  std::int64_t last = view.offset;
  for (std::size_t axis = 0; axis < view.shape.size(); ++axis) {
    if (view.shape[axis] == 0) return 0;
    last += (view.shape[axis] - 1) * view.strides[axis];
  }
  return last + 1;
}

std::int64_t element_count(const Dims& dims) {
  if (dims.size() > kLargestRank) {
    throw Error(fmt::format("a shape has {} dimensions; at most {} are allowed", dims.size(),
                            kLargestRank));
  }
  // The overflow check's product skips extents of 0, so that strides never overflow.
  std::int64_t product = 1;
  bool empty = false;
  for (const std::int64_t extent : dims) {
    if (extent < 0) {
      throw Error(fmt::format("shape {}: extent {} is negative", to_string(dims), extent));
    }
    empty = empty || extent == 0;
    if (__builtin_mul_overflow(product, std::max<std::int64_t>(extent, 1), &product)) {
      throw Error(fmt::format("shape {}: more than 2^63 - 1 elements", to_string(dims)));
    }
  }
  return empty ? 0 : product;
}

std::string to_string(const Dims& dims) {
  return dims.empty() ? "scalar" : fmt::format("{}", fmt::join(dims, "x"));
}

Dims parse_dims(std::string_view text) {
  if (text == "scalar") return {};
  Dims dims;
  const char* at = text.data();
  const char* const end = at + text.size();
  do {
    const auto [stop, error] = std::from_chars(at, end, dims.emplace_back());
    if (error != std::errc() || (stop != end && *stop != 'x')) throw_no_shape(text);
    at = stop == end ? nullptr : stop + 1;
  } while (at != nullptr);
  // from_chars also accepts signs and leading zeros, which are refused here.
  if (to_string(dims) != text) throw_no_shape(text);
  element_count(dims);
  return dims;
}

Dims row_major_strides(const Dims& dims) {
  element_count(dims);
  Dims strides(dims.size());
  std::int64_t stride = 1;
  for (std::size_t axis = dims.size(); axis-- > 0;) {
    strides[axis] = stride;
    stride *= std::max<std::int64_t>(dims[axis], 1);
  }
  return strides;
}

}  // namespace opbench
