// Tensors joined along a new axis, and a tensor divided along an axis: each is the gradient of the
// other.
#include <fmt/format.h>

#include "ops/elementwise.h"
#include "ops/movement.h"
#include "ops/rearrange.h"
#include "tensor/error.h"

namespace opbench {
namespace {

constexpr std::int64_t kMostParts = 4096;  // as for split: bounds the outputs of one operator

std::vector<TensorDesc> infer_stack(std::span<const TensorDesc> inputs, const Attrs& attrs) {
  infer_elementwise("stack", inputs);
  const Dims whole = stacked_shape(inputs[0].shape, std::ssize(inputs), attrs);
  return {with_shape(inputs[0], whole)};
}

std::vector<TensorDesc> infer_unbind(std::span<const TensorDesc> inputs, const Attrs& attrs) {
  const Dims& shape = inputs[0].shape;
  const std::size_t axis = axis_of("unbind", shape, attrs.integer("axis"));
  if (shape[axis] < 1 || shape[axis] > kMostParts) {
    throw Error(fmt::format("unbind: axis {} of 'x' has {} places in shape {}; allowed: 1 to {}",
                            axis, shape[axis], to_string(shape), kMostParts));
  }
  Dims part = shape;
  part.erase(part.begin() + static_cast<std::ptrdiff_t>(axis));
  return std::vector<TensorDesc>(static_cast<std::size_t>(shape[axis]),
                                 with_shape(inputs[0], part));
}

ExactReference stacked(std::span<const InputReader> inputs, const Attrs& attrs) {
  const Dims whole = stacked_shape(inputs[0].desc().shape, std::ssize(inputs), attrs);
  const AxisView view(whole, axis_of("stack", whole, attrs.integer("axis")));
  return moved(inputs, [view](std::size_t, std::int64_t element) -> SourceRun {
    const std::int64_t inside = element % view.inner, place = element / view.inner;
    return {static_cast<std::size_t>(place % view.extent),
            place / view.extent * view.inner + inside, view.inner - inside};
  });
}

ExactReference unbound(std::span<const InputReader> inputs, const Attrs& attrs) {
  const Dims& shape = inputs[0].desc().shape;
  const AxisView view(shape, axis_of("unbind", shape, attrs.integer("axis")));
  return moved(inputs, [view](std::size_t output, std::int64_t element) -> SourceRun {
    const std::int64_t inside = element % view.inner, outer = element / view.inner;
    const std::int64_t place = outer * view.extent + static_cast<std::int64_t>(output);
    return {0, place * view.inner + inside, view.inner - inside};
  });
}

std::vector<GradientCall> gradient_of_stack(const Problem& forward) {
  GradientCall call{"unbind", {{GradientArg::output_gradient, 0}}, {}};
  for (std::size_t i = 0; i < forward.inputs.size(); ++i) call.of_inputs.push_back(i);
  return {call};
}

std::vector<GradientCall> gradient_of_unbind(const Problem& forward) {
  GradientCall call{"stack", {}, {0}};
  for (std::size_t i = 0; i < forward.outputs.size(); ++i) {
    call.args.push_back({GradientArg::output_gradient, i});
  }
  return {call};
}

std::vector<AttrSpec> axis_attr(std::string_view help) { return {{"axis", std::int64_t{0}, help}}; }

const RegisteredOp stack{{
    .name = "stack",
    .ir_name = "stack",
    .summary = "y = the inputs one after the other along a new axis",
    .source = "torch.stack; CANN Pack",
    .known_as = {.calls = {{"stack, Pack",
                            "tensors/tensors_*",
                            "result|out|y",
                            {.attrs = "axis: dim|axis"}},
                           {"UnbindBackward",
                            "grads/grads_*",
                            "grad_inputs/grad_inputs_0",
                            {.attrs = "axis: dim"}}},
                 .torch = "torch.stack(x, {axis})"},
    .inputs = {{"x", "tensors/tensors_"}},
    .outputs = {{"y", "result"}},
    .variadic = true,
    .attrs = axis_attr("the new axis; negative: from the back"),
    .dtypes = kMovableDTypes,
    .formats = kPlainFormats,
    .accuracy = AccuracyClass::exact,
    .infer = infer_stack,
    .exact_reference = stacked,
    .traffic = movement_traffic,
    .gradient = gradient_of_stack,
    .inputs_like =
        [](const Dims& shape, const Attrs&) {
          return std::vector<Dims>{shape, shape};
        },
}};

const RegisteredOp unbind{{
    .name = "unbind",
    .ir_name = "unbind",
    .summary = "y0, y1, ... = the slices of x along an axis, which is dropped",
    .source = "torch.unbind; CANN Unpack",
    .known_as = {.calls = {{"StackBackward",
                            "grads/grads_0",
                            "grad_inputs/grad_inputs_*",
                            {.attrs = "axis: dim", .needs = "axis"}}}},
    .inputs = {{"x", "self"}},
    .outputs = {{"y", "result/result_"}},
    .attrs = axis_attr("the axis that is divided; negative: from the back"),
    .dtypes = kMovableDTypes,
    .formats = kPlainFormats,
    .accuracy = AccuracyClass::exact,
    .infer = infer_unbind,
    .exact_reference = unbound,
    .traffic = movement_traffic,
    .gradient = gradient_of_unbind,
    .context = {.view_copies = ViewCopies::in_framework},
}};

}  // namespace

Dims stacked_shape(const Dims& part, std::int64_t parts, const Attrs& attrs) {
  Dims whole = part;
  whole.push_back(parts);  // negative axes also count the new axis
  const std::size_t axis = axis_of("stack", whole, attrs.integer("axis"));
  whole.pop_back();
  whole.insert(whole.begin() + static_cast<std::ptrdiff_t>(axis), parts);
  return whole;
}

}  // namespace opbench
