#include "ops/reduce_axes.h"

#include <fmt/format.h>

#include "ops/movement.h"
#include "tensor/error.h"

namespace opbench {

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

}  // namespace opbench
