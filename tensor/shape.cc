#include "tensor/shape.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>

#include "tensor/error.h"

namespace opbench {
namespace {

[[noreturn]] void throw_no_shape(std::string_view text) {
  throw Error(fmt::format(
      "'{}' is no shape; allowed: whole numbers joined by x, as in 128x64x7x7, or scalar", text));
}

}  // namespace

std::int64_t element_count(const Dims& dims) {
  if (dims.size() > kLargestRank) {
    throw Error(fmt::format("a shape has {} dimensions; at most {} are allowed", dims.size(),
                            kLargestRank));
  }
  // Extents of 0 are left out of the overflow check's product, so that strides never overflow.
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
  // What from_chars takes and we do not: signs and leading zeros.
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
