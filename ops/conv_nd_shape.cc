#include <fmt/format.h>

#include "ops/conv_nd.h"
#include "tensor/error.h"

namespace opbench {
namespace {

std::size_t axes_of(const Op& op) { return op.name.starts_with("conv1d") ? 1 : 3; }

/// The shape that a gradient's result has: that of the attribute `size`, if it is stated, else
/// `known` and for each further axis `extent(axis, stride, padding, dilation)`.
template <class Extent>
Dims result_shape(const Op& op, std::string_view size, Dims known, const Attrs& attrs,
                  const Extent& extent) {
  const std::size_t axes = axes_of(op);
  const Dims& stated = attrs.list(size);
  if (!stated.empty()) {
    if (stated.size() == axes + 2 && std::equal(known.begin(), known.end(), stated.begin())) {
      return stated;
    }
    throw Error(fmt::format("{}: {} is {}; allowed: {} extents, {} and {} first", op.name, size,
                            to_string(AttrValue(stated)), axes + 2, known[0], known[1]));
  }
  const Dims stride = numbers_of(attrs, "stride", axes);
  const Dims padding = numbers_of(attrs, "padding", axes);
  const Dims dilation = numbers_of(attrs, "dilation", axes);
  for (std::size_t i = 0; i < axes; ++i) {
    known.push_back(std::max<std::int64_t>(0, extent(i + 2, stride[i], padding[i], dilation[i])));
  }
  return known;
}

}  // namespace

ConvOperands::ConvOperands(const Op& op, const Dims& first, const Dims& second, const Attrs& attrs)
    : x(first), weight(second) {
  const ConvKind kind = conv_kind(op);
  if (kind == kConvForward) return;
  const std::size_t rank = axes_of(op) + 2;
  if (first.size() != rank || second.size() != rank) {
    throw Error(fmt::format("{}: inputs of shape {} and {}; allowed: {} axes each", op.name,
                            to_string(first), to_string(second), rank));
  }
  const Dims& dy = first;
  const std::int64_t groups = attrs.integer("groups");
  if (kind == kConvGradInput) {
    x = result_shape(op, "input_size", {dy[0], weight[1] * groups}, attrs,
                     [&](std::size_t i, auto stride, auto padding, auto dilation) {
                       return least_extent(dy[i], weight[i], stride, padding, dilation);
                     });
    return;
  }
  x = second;
  weight = result_shape(op, "weight_size", {dy[1], x[1] / groups}, attrs,
                        [&](std::size_t i, auto stride, auto padding, auto dilation) {
                          return largest_kernel(x[i], dy[i], stride, padding, dilation);
                        });
}

ConvNd::ConvNd(const Op& op, const Dims& first, const Dims& second, const Attrs& of) {
  const std::size_t axes = axes_of(op);
  const ConvOperands shapes(op, first, second, of);
  const Dims result = convolved(op.name, axes, shapes.x, shapes.weight, of);
  n = shapes.x[0];
  c = shapes.x[1];
  m = shapes.weight[0];
  attrs = Attrs(op_of_planes(op).attrs);
  attrs.put("groups", of.integer("groups"));
  const auto windows = [&](std::string_view name, std::int64_t of_row) {
    Dims numbers = numbers_of(of, name, axes);
    if (axes == 1) numbers.insert(numbers.begin(), of_row);
    attrs.put(name, Dims(numbers.end() - 2, numbers.end()));
    return numbers[0];
  };
  stride = windows("stride", 1);
  padding = windows("padding", 0);
  dilation = windows("dilation", 1);
  if (axes == 3) {
    d = shapes.x[2];
    kd = shapes.weight[2];
    od = result[2];
  } else {
    stride = dilation = 1;
    padding = 0;
  }
  const auto plane = [&](std::int64_t rows, std::int64_t columns, const Dims& shape) {
    return axes == 1 ? Dims{rows, columns, 1, shape[2]} : Dims{rows, columns, shape[3], shape[4]};
  };
  x = plane(n * od, c * kd, shapes.x);
  weight = plane(m, shapes.weight[1] * kd, shapes.weight);
  y = plane(n * od, m, result);
  const ConvKind kind = conv_kind(op);
  if (kind == kConvGradInput) attrs.put("input_size", Dims{x[2], x[3]});
  if (kind == kConvGradWeight) attrs.put("kernel_size", Dims{weight[2], weight[3]});
}

const Dims& ConvNd::shape_of(ConvRole role, const Dims& bias) const {
  switch (role) {
    case ConvRole::x:
      return x;
    case ConvRole::y:
      return y;
    case ConvRole::weight:
      return weight;
    default:
      return bias;
  }
}

ConvKind conv_kind(const Op& op) {
  if (op.name.ends_with("_grad_input")) return kConvGradInput;
  return op.name.ends_with("_grad_weight") ? kConvGradWeight : kConvForward;
}

const Op& op_of_planes(const Op& op) { return find_op(kConvNames[1][conv_kind(op)]); }

ConvRole role_of_input(const Op& op, std::size_t i) {
  const ConvKind kind = conv_kind(op);
  if (i == 0) return kind == kConvForward ? ConvRole::x : ConvRole::y;
  if (i == 1) return kind == kConvGradWeight ? ConvRole::x : ConvRole::weight;
  return ConvRole::bias;
}

ConvRole role_of_output(const Op& op) {
  constexpr ConvRole kRoles[] = {ConvRole::y, ConvRole::x, ConvRole::weight};
  return kRoles[conv_kind(op)];
}

}  // namespace opbench
