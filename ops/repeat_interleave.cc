// Every place of an axis repeated, and the gradient that sums the copies.
#include <fmt/format.h>

#include <cmath>
#include <memory>
#include <numeric>

#include "ops/elementwise.h"
#include "ops/index.h"
#include "ops/matmul.h"
#include "ops/movement.h"
#include "tensor/error.h"

namespace opbench {
namespace {

constexpr std::string_view kName = "repeat_interleave", kGradName = "repeat_interleave_grad";

// Shape [1] or one number for each place.
void require_repeats(std::string_view op, std::span<const TensorDesc> inputs, std::int64_t places) {
  if (!is_given(inputs, 1)) return;
  const Dims& shape = inputs[1].shape;
  if (shape == Dims{places} || shape == Dims{1} || shape.empty()) return;
  throw Error(
      fmt::format("{}: 'repeats' has shape {}; allowed: 1 or {}", op, to_string(shape), places));
}

std::vector<TensorDesc> infer(std::span<const TensorDesc> inputs, const Attrs& attrs) {
  Dims shape = inputs[0].shape;
  const std::size_t axis = axis_of(kName, shape, attrs.integer("axis"));
  require_repeats(kName, inputs, shape[axis]);
  const std::int64_t size = attrs.integer("output_size");
  shape[axis] = size < 0 ? element_count({shape[axis], attrs.integer("repeats")}) : size;
  return {describe(inputs[0].dtype, shape)};
}

/// The place of x that each place of y copies along the axis, and likewise for the gradient.
/// `places`: the extent of x. Input 1, if it is given, has the number of copies.
std::vector<std::int64_t> repeated_places(std::span<const InputReader> inputs, const Attrs& attrs,
                                          std::int64_t places) {
  std::vector<std::int64_t> repeats = {attrs.integer("repeats")}, all;
  if (inputs[0].desc().elements() == 0) return all;  // its axis may be long
  if (is_given(inputs, 1)) repeats = inputs[1].read_index();
  for (std::int64_t place = 0; place < places; ++place) {
    const std::int64_t copies = repeats[repeats.size() > 1 ? static_cast<std::size_t>(place) : 0];
    all.insert(all.end(), static_cast<std::size_t>(copies), place);
  }
  return all;
}

ExactReference reference(std::span<const InputReader> inputs, const Attrs& attrs) {
  const Dims& shape = inputs[0].desc().shape;
  const AxisView view(shape, axis_of(kName, shape, attrs.integer("axis")));
  const std::vector<std::int64_t> sources = repeated_places(inputs, attrs, view.extent);
  return moved(inputs.first(1), [view, sources](std::size_t, std::int64_t element) -> SourceRun {
    const std::int64_t line = element / view.inner, inside = element % view.inner;
    const std::int64_t to = std::ssize(sources);
    const std::int64_t from = sources[static_cast<std::size_t>(line % to)];
    return {0, (line / to * view.extent + from) * view.inner + inside, view.inner - inside};
  });
}

std::vector<TensorDesc> infer_grad(std::span<const TensorDesc> inputs, const Attrs& attrs) {
  Dims shape = inputs[0].shape;
  const std::size_t axis = axis_of(kGradName, shape, attrs.integer("axis"));
  const std::int64_t size = attrs.integer("input_size"), repeats = attrs.integer("repeats");
  const std::int64_t places = size >= 0 ? size : repeats > 0 ? shape[axis] / repeats : 0;
  require_repeats(kGradName, inputs, places);
  shape[axis] = places;
  return {describe(inputs[0].dtype, shape)};
}

Reference reference_grad(std::span<const InputReader> inputs, const Attrs& attrs) {
  const Dims& shape = inputs[0].desc().shape;
  const std::size_t axis = axis_of(kGradName, shape, attrs.integer("axis"));
  const AxisView view(shape, axis);
  const std::int64_t places = infer_grad(descs_of(inputs), attrs)[0].shape[axis];
  const std::vector<std::int64_t> sources = repeated_places(inputs, attrs, places);
  const std::vector<double> dy = inputs[0].read_all();
  std::vector<double> dx(static_cast<std::size_t>(view.outer * places * view.inner));
  for (std::size_t i = 0; i < dy.size(); ++i) {
    const auto element = static_cast<std::int64_t>(i);
    const std::int64_t line = element / view.inner;
    const std::int64_t to =
        line / view.extent * places + sources[static_cast<std::size_t>(line % view.extent)];
    dx[static_cast<std::size_t>(to * view.inner + element % view.inner)] += dy[i];
  }
  return elements_of({std::move(dx)});
}

// The copies of all places fill the axis. Each number is at most that of all copies, so that their
// sum does not overflow.
void check(std::string_view op, std::span<const InputReader> inputs, const Attrs& attrs,
           std::int64_t places, std::int64_t copies) {
  std::int64_t found = 0;
  if (is_given(inputs, 1)) {
    const std::vector<std::int64_t> repeats = inputs[1].read_index();
    check_index({op, "repeats", copies + 1}, repeats);
    for (std::int64_t i = 0; i < places && found <= copies; ++i) {
      found += repeats[repeats.size() > 1 ? static_cast<std::size_t>(i) : 0];
    }
  } else {
    found = element_count({places, attrs.integer("repeats")});
  }
  if (found == copies) return;
  throw Error(fmt::format("{}: 'repeats' give {} places{}; allowed: {}, the extent", op, found,
                          found > copies ? " or more" : "", copies));
}

std::vector<GradientCall> gradient(const Problem& forward) {
  const Attrs& attrs = forward.attrs;
  const Dims& shape = forward.inputs[0].shape;
  const std::pair<std::string_view, AttrValue> values[] = {
      {"axis", attrs.integer("axis")},
      {"repeats", attrs.integer("repeats")},
      {"input_size", shape[axis_of(kName, shape, attrs.integer("axis"))]}};
  GradientCall call{
      kGradName, {{GradientArg::output_gradient, 0}}, {0}, attrs_with(kGradName, values)};
  if (is_given(forward.inputs, 1)) call.args.push_back({GradientArg::input, 1});
  return {call};
}

std::vector<AttrSpec> repeat_attrs(std::string_view size, std::string_view help) {
  const auto not_negative = [](const AttrValue& value) -> std::string {
    return std::get<std::int64_t>(value) >= 0 ? "" : "it must be 0 or more";
  };
  return {{"axis", std::int64_t{0}, "the axis; negative: from the back"},
          {"repeats", std::int64_t{2}, "copies of each place, without 'repeats' as an input",
           not_negative},
          {size, std::int64_t{-1}, help}};
}

TensorSpec repeats_input() {
  return {.name = "repeats", .dtypes = kIndexDTypes, .data = [](const Problem& problem) {
            return Distribution{DistributionKind::constant,
                                double(problem.attrs.integer("repeats")), 1};
          }};
}

std::vector<Dims> inputs_like(const Dims& shape, const Attrs&) { return {shape}; }

const RegisteredOp registered{{
    .name = kName,
    .ir_name = kName,
    .summary = "y = the places of an axis of x in order, each repeated, all equally often or "
               "repeats[i] times",
    .source = "torch.repeat_interleave; CANN RepeatInterleave",
    .known_as = {.calls = {{"repeat_interleave, repeat_interleave_self_int",
                            "self",
                            "result",
                            {.attrs = "axis: dim, repeats", .needs = "repeats, axis"}},
                           {"repeat_interleave, repeat_interleave_self_Tensor, RepeatInterleave",
                            "self|x, repeats",
                            "result|y",
                            {.attrs = "axis: dim|axis, output_size: output_size", .turn = 1}}}},
    .inputs = {{"self"}, repeats_input()},
    .outputs = {{"result"}},
    .optional_inputs = 1,
    .attrs = repeat_attrs("output_size", "extent of the axis of y; -1: repeats times that of x"),
    .dtypes = kMovableDTypes,
    .formats = kPlainFormats,
    .accuracy = AccuracyClass::exact,
    .infer = infer,
    .exact_reference = reference,
    .traffic = movement_traffic,
    .gradient = gradient,
    .inputs_like = inputs_like,
    .check_values =
        [](const Problem& problem, std::span<const InputReader> inputs) {
          const auto axis = axis_of(kName, problem.inputs[0].shape, problem.attrs.integer("axis"));
          check(kName, inputs, problem.attrs, problem.inputs[0].shape[axis],
                problem.outputs[0].shape[axis]);
        },
}};

const RegisteredOp registered_grad{{
    .name = kGradName,
    .ir_name = "RepeatInterleaveBackward",
    .summary = "dx = the sums of dy over the copies of each place",
    .source = "torch.repeat_interleave backward; CANN RepeatInterleaveGrad",
    .known_as =
        {.calls = {{"RepeatInterleaveGrad", "y_grad, repeats", "x_grad", {.attrs = "axis"}}}},
    .inputs = {{"grad_output", "grads/grads_0", {}, unit_data}, repeats_input()},
    .outputs = {{"grad_input", "grad_inputs/grad_inputs_0"}},
    .optional_inputs = 1,
    .attrs = repeat_attrs("input_size", "extent of the axis of x; -1: that of dy over repeats"),
    .dtypes = kArithmeticDTypes,
    .formats = kPlainFormats,
    .infer = infer_grad,
    .reference = reference_grad,
    .traffic = input_traffic<1>,
    .inputs_like = [](const Dims& shape, const Attrs& attrs) -> std::vector<Dims> {
      Dims dy = shape;
      if (!dy.empty()) dy[0] *= attrs.integer("repeats");
      return {dy};
    },
    .check_values =
        [](const Problem& problem, std::span<const InputReader> inputs) {
          const auto axis =
              axis_of(kGradName, problem.inputs[0].shape, problem.attrs.integer("axis"));
          check(kGradName, inputs, problem.attrs, problem.outputs[0].shape[axis],
                problem.inputs[0].shape[axis]);
        },
    .mixing = Mixing::sums,
}};

}  // namespace
}  // namespace opbench
