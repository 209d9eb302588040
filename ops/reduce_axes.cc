#include "ops/reduce_axes.h"

#include <fmt/format.h>

#include "ops/movement.h"
#include "tensor/error.h"

namespace opbench {
namespace {

// Where an element goes in the result.
std::int64_t target_of(std::int64_t element, const Dims& strides, const Dims& to) {
  std::int64_t target = 0;
  for (std::size_t i = 0; i < strides.size(); ++i) {
    target += element / strides[i] * to[i];
    element %= strides[i];
  }
  return target;
}

}  // namespace

std::vector<AttrSpec> reduce_attrs() {
  return {{"axes", std::vector<std::int64_t>(), "the axes that are reduced; empty: all"},
          {"keep_dims", false, "the axes stay, with one element each"}};
}

std::vector<bool> reduced_axes(std::string_view op, const Dims& shape, const Attrs& attrs) {
  const std::vector<std::int64_t>& axes = attrs.list("axes");
  std::vector<bool> reduced(shape.size(), axes.empty());
  for (const std::int64_t axis : axes) {
    const std::size_t i = axis_of(op, shape, axis);
    if (reduced[i]) throw Error(fmt::format("{}: axis {} is named twice", op, i));
    reduced[i] = true;
  }
  return reduced;
}

Dims reduced_shape(std::string_view op, const Dims& shape, const Attrs& attrs) {
  const std::vector<bool> reduced = reduced_axes(op, shape, attrs);
  Dims result;
  for (std::size_t i = 0; i < shape.size(); ++i) {
    if (!reduced[i]) {
      result.push_back(shape[i]);
    } else if (attrs.flag("keep_dims")) {
      result.push_back(1);
    }
  }
  return result;
}

double reduced_count(std::string_view op, const Dims& shape, const Attrs& attrs) {
  const std::vector<bool> reduced = reduced_axes(op, shape, attrs);
  double count = 1;
  for (std::size_t i = 0; i < shape.size(); ++i) count *= reduced[i] ? double(shape[i]) : 1;
  return count;
}

Dims strides_in_result(const Dims& shape, const std::vector<bool>& reduced) {
  Dims strides(shape.size(), 0);
  std::int64_t stride = 1;
  for (std::size_t i = shape.size(); i-- > 0;) {
    if (reduced[i]) continue;
    strides[i] = stride;
    stride *= shape[i];
  }
  return strides;
}

std::vector<double> sums_over(const InputReader& x, const std::vector<bool>& reduced) {
  const TensorDesc& desc = x.desc();
  const Dims strides = row_major_strides(desc.shape), to = strides_in_result(desc.shape, reduced);
  std::int64_t results = 1;
  for (std::size_t i = 0; i < reduced.size(); ++i) results *= reduced[i] ? 1 : desc.shape[i];
  std::vector<double> sum(static_cast<std::size_t>(results));
  std::vector<double> values(static_cast<std::size_t>(largest_block(desc)));
  for (std::int64_t b = 0; b < block_count(desc); ++b) {
    const ElementRange range = block(desc, b);
    x.read(range, {values.data(), static_cast<std::size_t>(range.count)});
    for (std::int64_t i = 0; i < range.count; ++i) {
      const std::int64_t target = target_of(range.first + i, strides, to);
      sum[static_cast<std::size_t>(target)] += values[static_cast<std::size_t>(i)];
    }
  }
  return sum;
}

std::vector<bool> summed_axes(std::string_view op, const Dims& shape, const Dims& size) {
  bool fits = size.size() <= shape.size();
  const std::size_t added = fits ? shape.size() - size.size() : 0;
  std::vector<bool> summed(shape.size(), true);
  for (std::size_t i = added; fits && i < shape.size(); ++i) {
    const std::int64_t extent = size[i - added];
    fits = extent == 1 || extent == shape[i];
    summed[i] = extent != shape[i];
  }
  if (fits) return summed;
  throw Error(
      fmt::format("{}: size is {} and 'self' has shape {}; allowed: a size whose extents are those "
                  "of 'self' or 1, aligned at the last axis",
                  op, to_string(size), to_string(shape)));
}

}  // namespace opbench
