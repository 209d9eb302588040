#include "ops/upsample.h"

#include <fmt/format.h>

#include "ops/movement.h"
#include "ops/pool.h"
#include "tensor/error.h"

namespace opbench {
namespace {

void require_elements(std::string_view op, std::int64_t from, std::int64_t to) {
  if (from > 0 || to == 0) return;
  throw Error(
      fmt::format("{}: an axis of 0 places becomes {} long; allowed: at least 1 place", op, to));
}

std::string size_problem(const AttrValue& value) {
  const bool is_empty = std::get<std::vector<std::int64_t>>(value).empty();
  return is_empty ? std::string() : pair_problem(value, 0);
}

std::vector<AttrSpec> attributes(std::string_view size, std::string_view help) {
  const auto not_negative = [](const AttrValue& value) -> std::string {
    return std::get<double>(value) >= 0 ? "" : "it must be 0 or more";
  };
  return {{size, std::vector<std::int64_t>{}, help, size_problem},
          {"scale_h", 0.0, "divisor of the places along the height; 0: the quotient of the heights",
           not_negative},
          {"scale_w", 0.0, "divisor of the places along the width; 0: the quotient of the widths",
           not_negative}};
}

}  // namespace

std::vector<TensorDesc> infer_upsample(std::string_view op, const TensorDesc& x,
                                       const Attrs& attrs) {
  require_planes(op, "self", x);
  const Dims& shape = x.shape;
  const Pair size = attrs.list("output_size").empty() ? Pair{2 * shape[2], 2 * shape[3]}
                                                      : pair_of(attrs, "output_size");
  require_elements(op, shape[2], size.h);
  require_elements(op, shape[3], size.w);
  return {with_shape(x, {shape[0], shape[1], size.h, size.w})};
}

std::vector<TensorDesc> infer_upsample_grad(std::string_view op, const TensorDesc& dy,
                                            const Attrs& attrs) {
  require_planes(op, "grad_output", dy);
  const Dims& shape = dy.shape;
  const Pair size = attrs.list("input_size").empty() ? Pair{(shape[2] + 1) / 2, (shape[3] + 1) / 2}
                                                     : pair_of(attrs, "input_size");
  require_elements(op, size.h, shape[2]);
  require_elements(op, size.w, shape[3]);
  return {with_shape(dy, {shape[0], shape[1], size.h, size.w})};
}

std::vector<AttrSpec> upsample_attrs() {
  return attributes("output_size", "[h] or [h,w]; [] is twice those of x");
}

std::vector<AttrSpec> upsample_grad_attrs() {
  return attributes("input_size", "height and width of x; [] is half those of dy");
}

std::vector<GradientCall> upsample_gradient(std::string_view gradient, const Problem& forward) {
  const Dims& x = forward.inputs[0].shape;
  Attrs attrs = forward.attrs.restricted_to(find_op(gradient).attrs);
  attrs.put("input_size", std::vector<std::int64_t>{x[2], x[3]});
  return {{gradient, {{GradientArg::output_gradient, 0}}, {0}, std::move(attrs)}};
}

}  // namespace opbench
