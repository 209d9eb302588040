#include "ops/gather.h"

#include <fmt/format.h>

#include <algorithm>

#include "ops/index.h"
#include "tensor/error.h"

namespace opbench {
namespace {

std::size_t axis_of_gather(const Dims& x, const Attrs& attrs) {
  return axis_of("gather", x, attrs.integer("axis"));
}

void check_batch(const Dims& x, const Dims& indices, std::size_t axis, std::int64_t batch_dims) {
  const std::int64_t most = std::min(static_cast<std::int64_t>(axis), std::ssize(indices));
  if (batch_dims < 0 || batch_dims > most) {
    throw Error(
        fmt::format("gather: batch_dims is {} for x of shape {}, indices of shape {} and "
                    "axis {}; allowed: 0 to {}",
                    batch_dims, to_string(x), to_string(indices), axis, most));
  }
  if (std::equal(x.begin(), x.begin() + batch_dims, indices.begin())) return;
  throw Error(
      fmt::format("gather: input 'indices' has shape {}, 'x' {}; allowed: the same first {} "
                  "extents (batch_dims)",
                  to_string(indices), to_string(x), batch_dims));
}

std::vector<TensorDesc> infer(std::span<const TensorDesc> inputs, const Attrs& attrs) {
  const Dims &x = inputs[0].shape, &indices = inputs[1].shape;
  const std::size_t axis = axis_of_gather(x, attrs);
  const std::int64_t batch_dims = attrs.integer("batch_dims");
  check_batch(x, indices, axis, batch_dims);
  const auto at_axis = x.begin() + static_cast<std::ptrdiff_t>(axis);
  Dims shape(x.begin(), at_axis);
  shape.insert(shape.end(), indices.begin() + batch_dims, indices.end());
  shape.insert(shape.end(), at_axis + 1, x.end());
  return {with_shape(inputs[0], std::move(shape))};
}

ExactReference reference(std::span<const InputReader> inputs, const Attrs& attrs) {
  return gathered(inputs, gather_view(inputs[0].desc().shape, inputs[1].desc().shape, attrs));
}

void check_values(const Problem& problem, std::span<const InputReader> inputs) {
  if (problem.attrs.word("out_of_range") == "zero") return;
  const Dims& x = problem.inputs[0].shape;
  check_index({"gather", "indices", x[axis_of_gather(x, problem.attrs)],
               problem.attrs.flag("negative_index")},
              inputs[1].read_index());
}

Distribution data(const Problem& problem) {
  const Dims& x = problem.inputs[0].shape;
  return index_data(x[axis_of_gather(x, problem.attrs)]);
}

std::string out_of_range_problem(const AttrValue& value) {
  const std::string& word = std::get<std::string>(value);
  return word == "error" || word == "zero" ? "" : "allowed: error, zero";
}

// index_add takes one axis of indices.
std::vector<GradientCall> gradient(const Problem& problem) {
  const Attrs& attrs = problem.attrs;
  const bool is_plain = problem.inputs[1].shape.size() == 1 && attrs.integer("batch_dims") == 0 &&
                        attrs.word("out_of_range") == "error";
  if (!is_plain) {
    throw Error(
        "gather: the gradient is an index_add, which takes one axis of indices, none outside, and "
        "no batch_dims");
  }
  return {{"index_add",
           {{GradientArg::zeros_like_input, 0},
            {GradientArg::input, 1},
            {GradientArg::output_gradient, 0}},
           {0},
           attrs_with("index_add", {{{"axis", attrs.integer("axis")},
                                     {"negative_index", attrs.flag("negative_index")}}})}};
}

const RegisteredOp registered{{
    .name = "gather",
    .ir_name = "GatherV2",
    .summary = "y = the rows of x along an axis that the indices name, in their shape",
    .source = "CANN GatherV2; tf.gather; torch.embedding",
    .known_as = {.calls = {{"GatherV2, Gather",
                            "self|x|data, index|indices",
                            "result|y|output",
                            {.attrs = "axis: axis|dim"}},
                           {"index_Tensor",
                            "self, indices/indices_0",
                            "result",
                            {.attrs = "axis: =0, negative_index: =true",
                             .where = "indices/indices_1:"}}},
                 .profiled = {{"GatherV2", "x, indices, =axis", "y"}},
                 .torch = "torch.index_select({0}, {axis}, {1}.flatten()).reshape({shape})",
                 .likely = likely_axes},
    .inputs = {{"x", "self"}, {.name = "indices", .dtypes = kIndexDTypes, .data = data}},
    .outputs = {{"y", "result"}},
    .attrs = {{"axis", std::int64_t{0}, "the axis of the indices; negative: from the back"},
              {"batch_dims", std::int64_t{0}, "first axes that x and indices share"},
              negative_index_attr(),
              {"out_of_range", std::string("error"),
               "error: indices outside the axis are refused; zero: they give zeros",
               out_of_range_problem}},
    .dtypes = kMovableDTypes,
    .formats = kPlainFormats,
    .accuracy = AccuracyClass::exact,
    .infer = infer,
    .exact_reference = reference,
    .traffic = gather_traffic,
    .gradient = gradient,
    .inputs_like =
        [](const Dims& shape, const Attrs&) {
          return std::vector<Dims>{shape, shape.empty() ? Dims{} : Dims{shape[0]}};
        },
    .check_values = check_values,
}};

}  // namespace

GatherView gather_view(const Dims& x, const Dims& indices, const Attrs& attrs) {
  const auto axis = static_cast<std::ptrdiff_t>(axis_of_gather(x, attrs));
  const std::ptrdiff_t batch_dims = attrs.integer("batch_dims");
  return {.batch = element_count({x.begin(), x.begin() + batch_dims}),
          .outer = element_count({x.begin() + batch_dims, x.begin() + axis}),
          .extent = x[static_cast<std::size_t>(axis)],
          .count = element_count({indices.begin() + batch_dims, indices.end()}),
          .row = element_count({x.begin() + axis + 1, x.end()}),
          .negative_allowed = attrs.flag("negative_index"),
          .zeros_outside = attrs.word("out_of_range") == "zero"};
}

}  // namespace opbench
