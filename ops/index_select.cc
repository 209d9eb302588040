#include "ops/gather.h"
#include "ops/index.h"

namespace opbench {
namespace {

constexpr std::size_t kMostDims = 8;  // Source: aclnnIndexSelect

std::int64_t extent_of(const Problem& problem) {
  const Dims& shape = problem.inputs[0].shape;
  return shape[axis_of("index_select", shape, problem.attrs.integer("axis"))];
}

std::vector<TensorDesc> infer(std::span<const TensorDesc> inputs, const Attrs& attrs) {
  require_rank_at_most("index_select", "x", inputs[0].shape, kMostDims);
  require_rank_at_most("index_select", "index", inputs[1].shape, 1);
  Dims shape = inputs[0].shape;
  shape[axis_of("index_select", shape, attrs.integer("axis"))] = inputs[1].elements();
  return {with_shape(inputs[0], std::move(shape))};
}

ExactReference reference(std::span<const InputReader> inputs, const Attrs& attrs) {
  return gathered(inputs, index_select_view(inputs[0].desc().shape, inputs[1].desc().shape, attrs));
}

void check_values(const Problem& problem, std::span<const InputReader> inputs) {
  check_index({"index_select", "index", extent_of(problem), problem.attrs.flag("negative_index")},
              inputs[1].read_index());
}

// The index of a channel shuffle in two groups, if the extent allows it.
Distribution data(const Problem& problem) {
  const std::int64_t extent = extent_of(problem);
  if (problem.attrs.flag("negative_index")) return index_data_around(extent);
  if (problem.inputs[1].elements() == extent && extent % 2 == 0) {
    return {DistributionKind::shuffle, 2};
  }
  return index_data(extent);
}

std::vector<Dims> inputs_like(const Dims& shape, const Attrs& attrs) {
  return {shape, {shape[axis_of("index_select", shape, attrs.integer("axis"))]}};
}

std::vector<GradientCall> gradient(const Problem& problem) {
  return {{"index_add",
           {{GradientArg::zeros_like_input, 0},
            {GradientArg::input, 1},
            {GradientArg::output_gradient, 0}},
           {0},
           attrs_with("index_add", {{{"axis", problem.attrs.integer("axis")},
                                     {"negative_index", problem.attrs.flag("negative_index")}}})}};
}

const RegisteredOp registered{{
    .name = "index_select",
    .ir_name = "index_select",
    .summary = "y[:, i] = x[:, index[i]]",
    .source =
        "torch.index_select, with negative_index x[:, index]; CANN aclnnIndexSelect, GatherV2",
    .known_as = {.calls = {{"index_select", "self, index", "result|out", {.attrs = "axis: dim"}}},
                 .profiled = {{"aten::index_select", "self, =dim, index"}},
                 .torch = "torch.index_select({0}, {axis}, {1} % {0}.shape[{axis}])"},
    .inputs = {{"x", "self"}, {.name = "index", .dtypes = kIndexDTypes, .data = data}},
    .outputs = {{"y", "result"}},
    .attrs = {{"axis", std::int64_t{1}, "the axis of the index; negative: from the back"},
              negative_index_attr()},
    .dtypes = kMovableDTypes,
    .formats = kPlainFormats,
    .accuracy = AccuracyClass::exact,
    .infer = infer,
    .exact_reference = reference,
    .traffic = gather_traffic,
    .gradient = gradient,
    .inputs_like = inputs_like,
    .check_values = check_values,
    .context = {.device_name = "GatherV2"},
}};

}  // namespace

GatherView index_select_view(const Dims& x, const Dims& index, const Attrs& attrs) {
  const AxisView view(x, axis_of("index_select", x, attrs.integer("axis")));
  return {.outer = view.outer,
          .extent = view.extent,
          .count = element_count(index),
          .row = view.inner,
          .negative_allowed = attrs.flag("negative_index")};
}

}  // namespace opbench
