// Elements or rows at the places that indices of several axes name, and the gradient that sums
// them.
#include "ops/index_axes.h"

#include <fmt/format.h>

#include <algorithm>

#include "ops/elementwise.h"
#include "ops/index.h"
#include "ops/integers.h"
#include "ops/matmul.h"
#include "ops/movement.h"
#include "tensor/error.h"

namespace opbench {
namespace {

constexpr std::string_view kName = "index_axes", kGradName = "index_axes_grad";

std::vector<TensorDesc> infer(std::span<const TensorDesc> inputs, const Attrs& attrs) {
  const IndexedAxes of(kName, inputs[0].shape, inputs.subspan(1), attrs);
  return {describe(inputs[0].dtype, of.picked())};
}

std::vector<std::vector<std::int64_t>> read_indices(std::span<const InputReader> inputs,
                                                    const Dims& shape) {
  std::vector<std::vector<std::int64_t>> indices;
  for (const InputReader& input : inputs.subspan(1)) {
    indices.emplace_back(static_cast<std::size_t>(element_count(shape)));
    read_broadcast_integers(input, BroadcastView(input.desc().shape, shape),
                            {0, std::ssize(indices.back())}, indices.back());
  }
  return indices;
}

/// The place of every point in the plane of the indexed axes.
std::vector<std::int64_t> points_of(const IndexedAxes& of, std::span<const InputReader> inputs) {
  const auto indices = read_indices(inputs, of.index);
  std::vector<std::int64_t> points(indices[0].size());
  for (std::size_t i = 0; i < points.size(); ++i) {
    for (std::size_t k = 0; k < indices.size(); ++k) {
      points[i] = points[i] * of.extents[k] + from_front(indices[k][i], of.extents[k]);
    }
  }
  return points;
}

ExactReference reference(std::span<const InputReader> inputs, const Attrs& attrs) {
  const std::vector<TensorDesc> descs = descs_of(inputs);
  const IndexedAxes of(kName, descs[0].shape, std::span(descs).subspan(1), attrs);
  return moved(inputs.first(1),
               [inner = of.inner, places = of.places(), points = points_of(of, inputs)](
                   std::size_t, std::int64_t element) -> SourceRun {
                 const std::int64_t row = element / inner, inside = element % inner;
                 const std::int64_t outer = row / std::ssize(points);
                 const std::int64_t point =
                     points[static_cast<std::size_t>(row % std::ssize(points))];
                 return {0, (outer * places + point) * inner + inside, inner - inside};
               });
}

std::vector<TensorDesc> infer_grad(std::span<const TensorDesc> inputs, const Attrs& attrs) {
  const Dims& size = attrs.list("size");
  const IndexedAxes of(kGradName, size, inputs.subspan(1), attrs);
  if (inputs[0].shape != of.picked()) {
    throw Error(fmt::format("{}: 'grad_output' has shape {}; allowed: {}", kGradName,
                            to_string(inputs[0].shape), to_string(of.picked())));
  }
  return {describe(inputs[0].dtype, size)};
}

Reference reference_grad(std::span<const InputReader> inputs, const Attrs& attrs) {
  const std::vector<TensorDesc> descs = descs_of(inputs);
  const Dims& size = attrs.list("size");
  const IndexedAxes of(kGradName, size, std::span(descs).subspan(1), attrs);
  const std::vector<std::int64_t> points = points_of(of, inputs);
  const std::vector<double> dy = inputs[0].read_all();
  std::vector<double> sums(static_cast<std::size_t>(element_count(size)));
  for (std::int64_t row = 0; row < of.outer * std::ssize(points); ++row) {
    const std::int64_t outer = row / std::ssize(points);
    const std::int64_t point = points[static_cast<std::size_t>(row % std::ssize(points))];
    for (std::int64_t i = 0; i < of.inner; ++i) {
      sums[static_cast<std::size_t>((outer * of.places() + point) * of.inner + i)] +=
          dy[static_cast<std::size_t>(row * of.inner + i)];
    }
  }
  return elements_of({std::move(sums)});
}

void check(std::string_view op, const Dims& x, const Problem& problem,
           std::span<const InputReader> inputs) {
  const IndexedAxes of(op, x, std::span(problem.inputs).subspan(1), problem.attrs);
  const auto indices = read_indices(inputs, of.index);
  for (std::size_t k = 0; k < indices.size(); ++k) {
    check_index({op, problem.op->input_name(k + 1), of.extents[k], true}, indices[k]);
  }
}

const Dims& indexed_shape(const Problem& problem) {
  return problem.op->name == kName ? problem.inputs[0].shape : problem.attrs.list("size");
}

template <std::size_t kIndex>
Distribution index_of(const Problem& problem) {
  const IndexedAxes of(problem.op->name, indexed_shape(problem),
                       std::span(problem.inputs).subspan(1), problem.attrs);
  return index_data_around(of.extents[kIndex]);
}

AttrSpec axis_attr() {
  return {"axis", std::int64_t{0}, "the axis of the first index; the others follow"};
}

std::vector<TensorSpec> specs(TensorSpec first) {
  return {std::move(first),
          {.name = "index0", .dtypes = kIndexDTypes, .data = index_of<0>},
          {.name = "index1", .dtypes = kIndexDTypes, .data = index_of<1>},
          {.name = "index2", .dtypes = kIndexDTypes, .data = index_of<2>}};
}

std::vector<GradientCall> gradient(const Problem& forward) {
  const std::pair<std::string_view, AttrValue> attrs[] = {{"axis", forward.attrs.integer("axis")},
                                                          {"size", forward.inputs[0].shape}};
  GradientCall call{
      kGradName, {{GradientArg::output_gradient, 0}}, {0}, attrs_with(kGradName, attrs)};
  for (std::size_t i = 1; i < forward.inputs.size(); ++i) {
    call.args.push_back({GradientArg::input, i});
  }
  return {call};
}

// x is read at most once for each requested element.
Traffic traffic(const Problem& problem) {
  Traffic traffic = movement_traffic(problem);
  const double x = double(problem.inputs[0].bytes()), y = double(problem.outputs[0].bytes());
  traffic.bytes_read -= x - std::min(x, y);
  return traffic;
}

const RegisteredOp registered{{
    .name = kName,
    .ir_name = "index",
    .summary = "y = x at the places that an index for each of several neighbouring axes names",
    .source = "x[:, i, j] of torch; the indices are broadcast",
    .known_as = {.calls = {{"Index", "x, index0, index1?", "y", {.is_profiled_only = true}},
                           {"index_Tensor",
                            "self, indices/indices_0, indices/indices_1, indices/indices_2?",
                            "result",
                            {.where = "indices/indices_3:", .turn = 2}},
                           {"index_Tensor",
                            "self, indices/indices_1, indices/indices_2?",
                            "result",
                            {.attrs = "axis: =1",
                             .where = "indices/indices_0:, indices/indices_3:",
                             .turn = 2}}},
                 .profiled = {{"Index", "x, , , index0, index1", "y"}}},
    .inputs = specs({"self"}),
    .outputs = {{"result"}},
    .optional_inputs = 2,
    .attrs = {axis_attr()},
    .dtypes = kMovableDTypes,
    .formats = kPlainFormats,
    .accuracy = AccuracyClass::exact,
    .infer = infer,
    .exact_reference = reference,
    .traffic = traffic,
    .gradient = gradient,
    .inputs_like =
        [](const Dims& shape, const Attrs&) {
          const Dims points = {shape.empty() ? 1 : shape[0]};
          return std::vector<Dims>{shape, points, points};
        },
    .check_values =
        [](const Problem& problem, std::span<const InputReader> inputs) {
          check(kName, problem.inputs[0].shape, problem, inputs);
        },
}};

const RegisteredOp registered_grad{{
    .name = kGradName,
    .ir_name = "IndexBackward",
    .summary = "dx = the sums of dy over the points that name the same place",
    .source = "x[:, i, j] of torch backward: index_put(accumulate)",
    .known_as = {.calls = {{"IndexBackward",
                            "grads/grads_0, indices/indices_0, indices/indices_1, "
                            "indices/indices_2?",
                            "grad_inputs/grad_inputs_0",
                            {.attrs = "size: shape of grad_inputs/grad_inputs_0",
                             .where = "indices/indices_3:",
                             .turn = 2}},
                           {"IndexBackward",
                            "grads/grads_0, indices/indices_1, indices/indices_2?",
                            "grad_inputs/grad_inputs_0",
                            {.attrs = "axis: =1, size: shape of grad_inputs/grad_inputs_0",
                             .where = "indices/indices_0:, indices/indices_3:",
                             .turn = 2}},
                           {"IndexSelectBackward",
                            "grads/grads_0, index",
                            "grad_inputs/grad_inputs_0",
                            {.attrs = "axis: dim, size: self_sizes"}}}},
    .inputs = specs({"grad_output", "grads/grads_0", {}, unit_data}),
    .outputs = {{"grad_input", "grad_inputs/grad_inputs_0"}},
    .optional_inputs = 2,
    .attrs = {axis_attr(), {"size", std::vector<std::int64_t>{16, 16}, "the extents of x"}},
    .dtypes = kArithmeticDTypes,
    .formats = kPlainFormats,
    .infer = infer_grad,
    .reference = reference_grad,
    .traffic = input_traffic<1>,
    .inputs_like =
        [](const Dims& shape, const Attrs&) {
          return std::vector<Dims>{shape, shape, shape};
        },
    .check_values =
        [](const Problem& problem, std::span<const InputReader> inputs) {
          check(kGradName, problem.attrs.list("size"), problem, inputs);
        },
    .mixing = Mixing::sums,
}};

}  // namespace

IndexedAxes::IndexedAxes(std::string_view op, const Dims& x, std::span<const TensorDesc> indices,
                         const Attrs& attrs)
    : index(infer_broadcast(op, indices)[0].shape) {
  const std::size_t axis = axis_of(op, x, attrs.integer("axis"));
  if (axis + indices.size() > x.size()) {
    throw Error(
        fmt::format("{}: {} indices from axis {} on of shape {}; allowed: one for each "
                    "axis at most",
                    op, indices.size(), axis, to_string(x)));
  }
  const auto first = x.begin() + static_cast<std::ptrdiff_t>(axis);
  const auto last = first + std::ssize(indices);
  before = {x.begin(), first};
  extents = {first, last};
  behind = {last, x.end()};
  outer = element_count(before);
  inner = element_count(behind);
  if (places() == 0 && element_count(index) > 0) {
    throw Error(fmt::format("{}: indices of shape {} into shape {}, which has no elements there",
                            op, to_string(index), to_string(x)));
  }
}

Dims IndexedAxes::picked() const {
  Dims shape = before;
  shape.insert(shape.end(), index.begin(), index.end());
  shape.insert(shape.end(), behind.begin(), behind.end());
  return shape;
}

}  // namespace opbench
