// A tensor with a border of one value; a negative border cuts off elements.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "ops/movement.h"
#include "ops/rearrange.h"
#include "tensor/error.h"

namespace opbench {
namespace {

constexpr std::int64_t kMost = std::int64_t{1} << 40;

std::vector<TensorDesc> infer(std::span<const TensorDesc> inputs, const Attrs& attrs) {
  const Dims apart = spread_shape(inputs[0].shape, attrs);
  return {with_shape(inputs[0], padded_shape(apart, paddings_of(apart, attrs)))};
}

// The distance of the elements of x along every axis.
Dims steps_of(std::size_t rank, const Attrs& attrs) {
  Dims steps(rank, 1);
  if (const std::int64_t step = attrs.integer("step"); step != 1) {
    steps[axis_of("pad", steps, attrs.integer("step_axis"))] = step;
  }
  return steps;
}

// Runs along the last axis: of the border, of x, of the border.
SourceMap padded(const Dims& shape, const Attrs& attrs) {
  const Dims apart = spread_shape(shape, attrs);
  const std::vector<Padding> paddings = paddings_of(apart, attrs);
  return [shape, from = apart, to = padded_shape(apart, paddings), paddings,
          steps = steps_of(shape.size(), attrs)](std::size_t, std::int64_t element) -> SourceRun {
    std::int64_t rest = element, stride = 1, first = 0, run = 1;
    bool is_inside = true;
    for (std::size_t i = from.size(); i-- > 0;) {
      const std::int64_t place = rest % to[i] - paddings[i].before;
      const bool is_here = place >= 0 && place < from[i] && place % steps[i] == 0;
      if (i + 1 == from.size() && steps[i] == 1) {
        const std::int64_t left = to[i] - rest % to[i];
        run = place < 0 ? std::min(-place, left) : is_here ? std::min(from[i] - place, left) : left;
      }
      is_inside = is_inside && is_here;
      first += place / steps[i] * stride;
      rest /= to[i];
      stride *= shape[i];
    }
    if (!is_inside) return {SourceRun::kZeros, 0, run};
    return {0, first, run};
  };
}

ExactReference reference(std::span<const InputReader> inputs, const Attrs& attrs) {
  const TensorDesc& x = inputs[0].desc();
  const SourceMap source = padded(x.shape, attrs);
  const double value = attrs.number("value");
  const ExactReference with_zeros = moved(inputs, source);
  if (value == 0) return with_zeros;
  return [with_zeros, source, value, dtype = x.dtype](std::size_t output, ElementRange range,
                                                      void* to) {
    with_zeros(output, range, to);
    for (std::int64_t done = 0; done < range.count;) {
      const SourceRun run = source(output, range.first + done);
      const std::int64_t count = std::min(run.count, range.count - done);
      for (std::int64_t i = 0; run.input == SourceRun::kZeros && i < count; ++i) {
        from_doubles(dtype, &value, 1, at(to, dtype, done + i));
      }
      done += count;
    }
  };
}

// The gradient of the border is dropped; that of the cut-off elements is 0.
std::vector<GradientCall> gradient(const Problem& forward) {
  if (forward.attrs.integer("step") != 1) throw Error("pad: the gradient supports step 1 only");
  std::vector<std::int64_t> back = forward.attrs.list("pad");
  for (std::int64_t& border : back) border = -border;
  const std::pair<std::string_view, AttrValue> attrs[] = {{"pad", back}};
  return {{"pad", {{GradientArg::output_gradient, 0}}, {0}, attrs_with("pad", attrs)}};
}

const RegisteredOp registered{{
    .name = "pad",
    .ir_name = "constant_pad_nd",
    .summary = "y = x with a border of one value",
    .source = "torch.nn.functional.pad(mode='constant'); CANN PadD, PadV3",
    .known_as =
        {.calls = {{"constant_pad_nd", "self", "result", {.attrs = "pad, value", .needs = "pad"}},
                   {"ConstantPadNdBackward",
                    "grads/grads_0",
                    "grad_inputs/grad_inputs_0",
                    {.attrs = "pad: - pad", .needs = "pad"}},
                   {"SliceBackward",
                    "grads/grads_0",
                    "grad_inputs/grad_inputs_0",
                    {.attrs = "pad: borders of grad_inputs/grad_inputs_0 along dim from start by "
                              "step, step, step_axis: dim",
                     .needs = "step"}},
                   {"SelectBackward",
                    "grads/grads_0 with axis dim",
                    "grad_inputs/grad_inputs_0",
                    {.attrs = "pad: borders of grad_inputs/grad_inputs_0 along dim from index"}}}},
    .inputs = {{"self"}},
    .outputs = {{"result"}},
    .attrs = {{"pad", std::vector<std::int64_t>{1, 1},
               "before and after each axis, from the last one on; negative: cut off"},
              {"value", 0.0, "of the border"},
              {"step", std::int64_t{1},
               "distance of elements along step_axis, with the value between",
               [](const AttrValue& value) -> std::string {
                 const std::int64_t step = std::get<std::int64_t>(value);
                 return step >= 1 && step <= kMost ? "" : "it must be 1 to 2^40";
               }},
              {"step_axis", std::int64_t{0}, "the axis of step; negative: from the back"}},
    .dtypes = kMovableDTypes,
    .formats = kPlainFormats,
    .accuracy = AccuracyClass::exact,
    .infer = infer,
    .exact_reference = reference,
    .traffic = movement_traffic,
    .gradient = gradient,
}};

}  // namespace

Dims spread_shape(const Dims& shape, const Attrs& attrs) {
  Dims apart = shape;
  const Dims steps = steps_of(shape.size(), attrs);
  for (std::size_t i = 0; i < shape.size(); ++i) {
    if (shape[i] > 0) apart[i] = (shape[i] - 1) * steps[i] + 1;
  }
  return apart;
}

std::vector<Padding> paddings_of(const Dims& shape, const Attrs& attrs) {
  const std::vector<std::int64_t>& pad = attrs.list("pad");
  if (pad.size() % 2 != 0 || pad.size() / 2 > shape.size()) {
    throw Error(
        fmt::format("pad: pad [{}] of a tensor of shape {}; allowed: two numbers for each "
                    "of the last axes",
                    fmt::join(pad, ","), to_string(shape)));
  }
  std::vector<Padding> paddings(shape.size());
  for (std::size_t i = 0; i < pad.size() / 2; ++i) {
    const std::size_t axis = shape.size() - 1 - i;
    const Padding padding{pad[2 * i], pad[2 * i + 1]};
    const auto is_far = [](std::int64_t border) { return border > kMost || border < -kMost; };
    const bool fits = !is_far(padding.before) && !is_far(padding.after) &&
                      shape[axis] + padding.before + padding.after >= 0 &&
                      shape[axis] + std::min(padding.before, padding.after) >= 0;
    if (!fits) {
      throw Error(
          fmt::format("pad: {} and {} at axis {} of shape {}; allowed: to cut off at most "
                      "its extent, and up to 2^40",
                      padding.before, padding.after, axis, to_string(shape)));
    }
    paddings[axis] = padding;
  }
  return paddings;
}

Dims padded_shape(const Dims& shape, const std::vector<Padding>& paddings) {
  Dims padded = shape;
  for (std::size_t i = 0; i < shape.size(); ++i)
    padded[i] += paddings[i].before + paddings[i].after;
  return padded;
}

}  // namespace opbench
