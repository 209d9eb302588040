// Axes in reverse order, and axes rotated by a shift.
#include <fmt/format.h>

#include <algorithm>

#include "ops/elementwise_op.h"
#include "ops/movement.h"
#include "ops/rearrange.h"
#include "tensor/error.h"

namespace opbench {
namespace {

/// The source of place `place` along `axis`.
using PlaceOf = std::function<std::int64_t(std::size_t axis, std::int64_t place)>;

// Single elements along the last axis that changes, longer runs inside it.
SourceMap rearranged(const Dims& shape, std::size_t changed, const PlaceOf& from) {
  std::int64_t inner = 1;
  for (std::size_t i = changed; i < shape.size(); ++i) inner *= shape[i];
  return [shape, changed, inner, from](std::size_t, std::int64_t element) -> SourceRun {
    const std::int64_t inside = element % inner;
    std::int64_t rest = element / inner, stride = inner, first = inside;
    for (std::size_t i = changed; i-- > 0;) {
      first += from(i, rest % shape[i]) * stride;
      rest /= shape[i];
      stride *= shape[i];
    }
    return {0, first, inner - inside};
  };
}

std::vector<TensorDesc> infer_flip(std::span<const TensorDesc> inputs, const Attrs& attrs) {
  flipped_axes(inputs[0].shape, attrs);
  return {inputs[0]};
}

ExactReference flipped(std::span<const InputReader> inputs, const Attrs& attrs) {
  const Dims& shape = inputs[0].desc().shape;
  const std::vector<bool> axes = flipped_axes(shape, attrs);
  const auto last = std::find(axes.rbegin(), axes.rend(), true);
  return moved(inputs, rearranged(shape, static_cast<std::size_t>(axes.rend() - last),
                                  [shape, axes](std::size_t axis, std::int64_t place) {
                                    return axes[axis] ? shape[axis] - 1 - place : place;
                                  }));
}

std::vector<TensorDesc> infer_roll(std::span<const TensorDesc> inputs, const Attrs& attrs) {
  const Roll checked(inputs[0].shape, attrs);
  return {inputs[0]};
}

ExactReference rolled(std::span<const InputReader> inputs, const Attrs& attrs) {
  const Roll roll(inputs[0].desc().shape, attrs);
  std::size_t changed = roll.shape.size();
  while (changed > 0 && roll.shifts[changed - 1] == 0) --changed;
  return moved(inputs,
               rearranged(roll.shape, changed, [roll](std::size_t axis, std::int64_t place) {
                 const std::int64_t from = place - roll.shifts[axis];
                 return from < 0 ? from + roll.shape[axis] : from;
               }));
}

std::vector<GradientCall> gradient_of_flip(const Problem&) {
  return {{"flip", {{GradientArg::output_gradient, 0}}}};
}

std::vector<GradientCall> gradient_of_roll(const Problem& forward) {
  Dims back = forward.attrs.list("shifts");
  for (std::int64_t& shift : back) shift = -shift;
  const std::pair<std::string_view, AttrValue> attrs[] = {{"shifts", back},
                                                          {"dims", forward.attrs.list("dims")}};
  return {{"roll", {{GradientArg::output_gradient, 0}}, {0}, attrs_with("roll", attrs)}};
}

using Infer = std::vector<TensorDesc> (*)(std::span<const TensorDesc> inputs, const Attrs& attrs);
using Exact = ExactReference (*)(std::span<const InputReader> inputs, const Attrs& attrs);

Op rearrangement(std::string_view name, const ElementwiseRow& row, Infer infer, Exact exact) {
  Op op;
  op.name = op.ir_name = name;
  op.summary = row.summary;
  op.source = row.source;
  op.known_as = row.known_as;
  op.inputs = {{"self"}};
  op.outputs = {{"result"}};
  op.attrs = row.attrs;
  op.dtypes = kMovableDTypes;
  op.formats = kPlainFormats;
  op.accuracy = AccuracyClass::exact;
  op.infer = infer;
  op.exact_reference = exact;
  op.traffic = movement_traffic;
  op.gradient = row.gradient;
  return op;
}

using List = std::vector<std::int64_t>;

const RegisteredOp kOperators[] = {
    RegisteredOp(
        rearrangement("flip",
                      {.summary = "y = x with some axes in reverse order",
                       .source = "torch.flip; CANN ReverseV2",
                       .known_as = {.calls = {{"flip, ReverseV2",
                                               "self|x",
                                               "result|y",
                                               {.attrs = "dims: dims|axis", .needs = "dims"}},
                                              {"FlipBackward",
                                               "grads/grads_0",
                                               "grad_inputs/grad_inputs_0",
                                               {.attrs = "dims", .needs = "dims"}}},
                                    .profiled = {{"ReverseV2", "x, =axis", "y"}},
                                    .torch = "torch.flip({0}, {dims})"},
                       .attrs = {{"dims", List{-1}, "the axes; negative: from the back"}},
                       .gradient = gradient_of_flip},
                      infer_flip, flipped)),
    RegisteredOp(
        rearrangement("roll",
                      {.summary = "y = x rotated along axes",
                       .source = "torch.roll; CANN Roll",
                       .known_as = {.calls = {{"roll, Roll",
                                               "self|x",
                                               "result|y",
                                               {.attrs = "shifts, dims", .needs = "shifts"}}}},
                       .attrs = {{"shifts", List{1}, "distances, one for each of dims"},
                                 {"dims", List{}, "the axes; [] is all elements as one axis"}},
                       .gradient = gradient_of_roll},
                      infer_roll, rolled)),
};

}  // namespace

std::vector<bool> flipped_axes(const Dims& shape, const Attrs& attrs) {
  std::vector<bool> axes(shape.size());
  for (const std::int64_t dim : attrs.list("dims")) {
    const std::size_t axis = axis_of("flip", shape, dim);
    if (axes[axis]) throw Error(fmt::format("flip: axis {} is named twice in dims", axis));
    axes[axis] = true;
  }
  return axes;
}

Roll::Roll(const Dims& of, const Attrs& attrs) : shape(of), shifts(of.size()) {
  const List &by = attrs.list("shifts"), &dims = attrs.list("dims");
  const bool is_flat = dims.empty();
  if (by.size() != (is_flat ? 1 : dims.size())) {
    throw Error(
        fmt::format("roll: there are {} shifts for {} dims; allowed: one for each, or one "
                    "without dims",
                    by.size(), dims.size()));
  }
  if (is_flat) shape = {element_count(of)}, shifts = {0};
  std::vector<bool> seen(shape.size());
  for (std::size_t i = 0; i < by.size(); ++i) {
    const std::size_t axis = is_flat ? 0 : axis_of("roll", of, dims[i]);
    if (seen[axis]) throw Error(fmt::format("roll: axis {} is named twice in dims", axis));
    seen[axis] = true;
    constexpr std::int64_t kMost = std::int64_t{1} << 40;
    if (by[i] > kMost || by[i] < -kMost) {
      throw Error(fmt::format("roll: a shift is {}; allowed: up to 2^40 either way", by[i]));
    }
    if (shape[axis] == 0) continue;
    shifts[axis] = by[i] % shape[axis];
    if (shifts[axis] < 0) shifts[axis] += shape[axis];
  }
}

}  // namespace opbench
