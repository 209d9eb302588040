// Rows that are combined with the rows of self that indices name.
#include <fmt/format.h>

#include <algorithm>

#include "ops/elementwise_op.h"
#include "ops/index.h"
#include "ops/integers.h"
#include "ops/movement.h"
#include "ops/scatter_plan.h"
#include "ops/terms.h"
#include "tensor/error.h"

namespace opbench {
namespace {

using Arg = GradientArg;

constexpr std::string_view kScatter = "scatter", kIndexPut = "index_put";

/// Replaces the elements of self by the result.
template <class T>
void scatter(const ScatterPlan& plan, std::span<const InputReader> inputs,
             const std::vector<T>& source, std::vector<T>& y) {
  auto indices = plan.room();
  plan.read(inputs, indices);
  std::vector<std::int64_t> met(y.size(), plan.includes_self ? 1 : 0);
  for (std::int64_t i = 0; i < plan.rows; ++i) {
    const auto [to, from] = plan.places(indices, i);
    for (std::int64_t k = 0; k < plan.length; ++k) {
      const auto place = static_cast<std::size_t>(to + k);
      const T value = source[static_cast<std::size_t>(from + k)];
      y[place] = met[place]++ == 0 ? value : combined(plan.reduce, y[place], value);
    }
  }
  if (plan.reduce != Reduce::mean) return;
  for (std::size_t i = 0; i < y.size(); ++i) {
    if (met[i] > 1) y[i] = mean_of(y[i], met[i]);
  }
}

ScatterPlan plan_of(const Op& op, std::span<const InputReader> inputs, const Attrs& attrs) {
  return {op, descs_of(inputs), attrs};
}

template <OpName kName>
Reference reference(std::span<const InputReader> inputs, const Attrs& attrs) {
  const ScatterPlan plan = plan_of(find_op(kName.view()), inputs, attrs);
  std::vector<double> y = inputs[0].read_all();
  scatter(plan, inputs, inputs[plan.source].read_all(), y);
  return elements_of({std::move(y)});
}

std::vector<std::int64_t> whole_numbers(const InputReader& x) {
  const Dims& shape = x.desc().shape;
  std::vector<std::int64_t> values(static_cast<std::size_t>(element_count(shape)));
  read_broadcast_integers(x, BroadcastView(shape, shape), {0, std::ssize(values)}, values);
  return values;
}

template <OpName kName>
ExactReference exact_reference(std::span<const InputReader> inputs, const Attrs& attrs) {
  const ScatterPlan plan = plan_of(find_op(kName.view()), inputs, attrs);
  std::vector<std::int64_t> y = whole_numbers(inputs[0]);
  scatter(plan, inputs, whole_numbers(inputs[plan.source]), y);
  return [y = std::move(y), dtype = inputs[0].desc().dtype](std::size_t, ElementRange range,
                                                            void* to) {
    wrap_integers(std::span(y).subspan(static_cast<std::size_t>(range.first),
                                       static_cast<std::size_t>(range.count)),
                  dtype, to);
  };
}

std::vector<double> magnitudes(std::vector<double> values) {
  for (double& value : values) value = finite_magnitude(value);
  return values;
}

// The sum of magnitudes. Each factor of a product is rounded in proportion to the result.
template <OpName kName>
Terms terms(std::span<const InputReader> inputs, const Attrs& attrs) {
  ScatterPlan plan = plan_of(find_op(kName.view()), inputs, attrs);
  const bool is_product = plan.reduce == Reduce::prod;
  std::vector<double> y = magnitudes(inputs[0].read_all());
  scatter(plan, inputs, magnitudes(inputs[plan.source].read_all()), y);
  if (is_product) {
    plan.reduce = Reduce::add;
    std::vector<double> factors(y.size(), 1);
    scatter(
        plan, inputs,
        std::vector<double>(static_cast<std::size_t>(inputs[plan.source].desc().elements()), 1.0),
        factors);
    for (std::size_t i = 0; i < y.size(); ++i) y[i] *= factors[i];
  }
  return {.magnitude = elements_of({std::move(y)})};
}

template <OpName kName>
std::vector<TensorDesc> infer(std::span<const TensorDesc> inputs, const Attrs& attrs) {
  const ScatterPlan plan(find_op(kName.view()), inputs, attrs);
  return {inputs[0]};
}

// The rows of self that are named are read and written, too.
Traffic traffic(const Problem& problem) {
  Traffic traffic = movement_traffic(problem);
  const ScatterPlan plan(*problem.op, problem.inputs, problem.attrs);
  if (plan.reduce != Reduce::update) traffic.operations = double(plan.rows * plan.length);
  return traffic;
}

void check(const Problem& problem, std::span<const InputReader> inputs) {
  ScatterPlan(*problem.op, problem.inputs, problem.attrs).check(inputs);
}

std::vector<GradientCall> gradient_of_scatter(const Problem& forward) {
  const std::string& reduce = forward.attrs.word("reduce");
  const Arg dy{Arg::output_gradient, 0}, index{Arg::input, 1};
  const bool has_rows = forward.inputs[1].shape == forward.inputs[2].shape;
  if ((reduce != "add" && reduce != "update") || !forward.attrs.flag("include_self") || !has_rows) {
    throw Error(
        fmt::format("{}: no gradient; allowed: 'add' or 'update' with an index of the "
                    "shape of 'src'",
                    kScatter));
  }
  const std::pair<std::string_view, AttrValue> zero[] = {{"dim", forward.attrs.integer("dim")},
                                                         {"value", 0.0}};
  const std::pair<std::string_view, AttrValue> dim[] = {{"dim", forward.attrs.integer("dim")}};
  const GradientCall source{
      "gather_elements", {dy, index}, {2}, attrs_with("gather_elements", dim)};
  if (reduce == "add") return {{"", {dy}, {0}}, source};
  return {{"scatter_value", {dy, index}, {0}, attrs_with("scatter_value", zero)}, source};
}

// Values take the gradient at their places; where they replace self, self takes none.
std::vector<GradientCall> gradient_of_index_put(const Problem& forward) {
  const Arg dy{Arg::output_gradient, 0};
  const std::pair<std::string_view, AttrValue> axis[] = {{"axis", forward.attrs.integer("axis")}};
  GradientCall values{"index_axes", {dy}, {1}, attrs_with("index_axes", axis)};
  GradientCall self{kIndexPut, {dy, {Arg::zeros_like_input, 1}}, {0}, forward.attrs};
  for (std::size_t i = 2; i < forward.inputs.size(); ++i) {
    values.args.push_back({Arg::input, i});
    self.args.push_back({Arg::input, i});
  }
  if (forward.attrs.flag("accumulate")) self = {"", {dy}, {0}};
  return {self, values};
}

template <OpName kName>
Op scatter_op(std::vector<TensorSpec> inputs, std::string_view summary, std::string_view source,
              KnownAs known_as, std::vector<AttrSpec> attrs) {
  return {.name = kName.view(),
          .ir_name = kName.view(),
          .summary = summary,
          .source = source,
          .known_as = std::move(known_as),
          .inputs = std::move(inputs),
          .outputs = {{"result"}},
          .attrs = std::move(attrs),
          .dtypes = kNumberDTypes,
          .formats = kPlainFormats,
          .infer = infer<kName>,
          .reference = reference<kName>,
          .exact_reference = exact_reference<kName>,
          .terms = terms<kName>,
          .traffic = traffic,
          .check_values = check,
          .mixing = Mixing::other};
}

// Rows that replace one row must be alike, so an index names each place once if it can.
Distribution different(const TensorDesc& index, std::int64_t extent, Distribution random) {
  return index.elements() <= extent ? Distribution{DistributionKind::permutation} : random;
}

// The row of each element: 0 `length` times, then 1, and so on.
Distribution numbers_of_rows(std::int64_t length) {
  return {DistributionKind::arange, 0.5 / double(length), 1 / double(length)};
}

Distribution along_dim(const Problem& problem) {
  const Dims &self = problem.inputs[0].shape, &index = problem.inputs[1].shape;
  const std::size_t dim = axis_of(kScatter, self, problem.attrs.integer("dim"));
  const std::int64_t length = element_count({index.begin() + std::ptrdiff_t(dim) + 1, index.end()});
  const Distribution random = index_data(self[dim]);
  if (problem.attrs.word("reduce") != "update" || index[dim] > self[dim] || length == 0)
    return random;
  const bool is_first = index[dim] * length == problem.inputs[1].elements();
  return is_first && length > 1 ? numbers_of_rows(length)
                                : different(problem.inputs[1], self[dim], random);
}

template <std::size_t kIndex>
Distribution along_axis(const Problem& problem) {
  const auto axis = static_cast<std::size_t>(
      axis_of(kIndexPut, problem.inputs[0].shape, problem.attrs.integer("axis")));
  const std::int64_t extent = problem.inputs[0].shape[axis + kIndex];
  const Distribution random = index_data_around(extent);
  if (problem.attrs.flag("accumulate")) return random;
  return different(problem.inputs[2 + kIndex], extent, random);
}

// One distribution for all coordinates: none is beyond the shortest axis. Rows of coordinates lie
// on the diagonal.
Distribution coordinates(const Problem& problem) {
  const Dims &self = problem.inputs[0].shape, &indices = problem.inputs[1].shape;
  const std::int64_t shortest = *std::min_element(self.begin(), self.begin() + indices.back());
  if (indices.back() == 1) return different(problem.inputs[1], shortest, index_data(shortest));
  const std::int64_t rows = problem.inputs[1].elements() / indices.back();
  return rows <= shortest ? numbers_of_rows(indices.back()) : index_data(shortest);
}

std::vector<Dims> alike(const Dims& shape, const Attrs&) { return {shape, shape, shape}; }

Op scatter_elements() {
  Op op = scatter_op<"scatter">(
      {{"self"}, {.name = "index", .dtypes = kIndexDTypes, .data = along_dim}, {"src"}},
      "y = self, and y[index[i][j]][j] combined with src[i][j] for dim 0, and so on",
      "torch.scatter, scatter_add, scatter_reduce; CANN ScatterElementsV2",
      {.calls =
           {{"scatter_add", "self, index, src", "result|self|out", {.attrs = "dim, reduce: =add"}},
            {"scatter_src, scatter",
             "self, index, src",
             "result|self|out",
             {.attrs = "dim, reduce: =update", .where = "reduce:"}},
            {"ScatterElementsV2, ScatterElements",
             "var|data, indices, updates",
             "var|y",
             {.attrs = "dim: axis", .is_profiled_only = true}}},
       .profiled = {{"ScatterElementsV2, ScatterElements", "var, indices, updates", "var"},
                    {"aten::scatter_add, aten::scatter_add_", "self, =dim, index, src"}}},
      {{"dim", std::int64_t{0}, "the axis that the index counts along"},
       {"reduce", std::string("add"), "update, add, prod, mean, amax or amin", no_reduce},
       {"include_self", true, "the element of self is one of those that are combined"}});
  op.gradient = gradient_of_scatter;
  op.inputs_like = alike;
  return op;
}

Op index_put() {
  Op op = scatter_op<"index_put">(
      {{"self"},
       {"values"},
       {.name = "index0", .dtypes = kIndexDTypes, .data = along_axis<0>},
       {.name = "index1", .dtypes = kIndexDTypes, .data = along_axis<1>},
       {.name = "index2", .dtypes = kIndexDTypes, .data = along_axis<2>}},
      "y = self, with values at the places that an index for each of several neighbouring axes "
      "names, or added there",
      "x[:, i, j] = values of torch; CANN IndexPutV2",
      {.calls = {{"index_put, _index_put_impl, index_put_impl",
                  "self, values, indices/indices_0, indices/indices_1?, indices/indices_2?",
                  "result|self|out",
                  {.attrs = "accumulate", .where = "indices/indices_3:", .turn = 2}},
                 {"index_put, _index_put_impl, index_put_impl",
                  "self, values, indices/indices_1, indices/indices_2?",
                  "result|self|out",
                  {.attrs = "accumulate, axis: =1",
                   .where = "indices/indices_0:, indices/indices_3:",
                   .turn = 2}},
                 {"IndexPutV2",
                  "x, value, indices_0, indices_1?, indices_2?",
                  "x",
                  {.attrs = "accumulate", .is_profiled_only = true}}},
       .profiled = {{"IndexPutV2", "x, value, , , indices_0, indices_1, indices_2", "x"}}},
      {{"axis", std::int64_t{0}, "the axis of the first index; the others follow"},
       {"accumulate", false, "add the values; of several at one place all count"}});
  op.optional_inputs = 2;
  op.inputs_like = [](const Dims& shape, const Attrs&) {
    Dims values = shape.empty() ? Dims{1} : shape;  // for half of the rows
    values[0] = (values[0] + 1) / 2;
    return std::vector<Dims>{shape, values, {values[0]}};
  };
  op.gradient = gradient_of_index_put;
  return op;
}

Op scatter_nd_update() {
  Op op = scatter_op<"scatter_nd_update">(
      {{"var"}, {.name = "indices", .dtypes = kIndexDTypes, .data = coordinates}, {"updates"}},
      "y = var, with the rows of updates at the places of the first k axes that rows of k indices "
      "name",
      "torch_npu.npu_scatter_nd_update; CANN ScatterNdUpdate",
      {.calls = {{"npu_scatter_nd_update, npu_scatter_nd_update_", "self, indices, updates",
                  "result|self|out"},
                 {"ScatterNdUpdate", "var, indices, updates", "var", {.is_profiled_only = true}}}},
      {});
  op.inputs_like = [](const Dims& shape, const Attrs&) {
    const std::int64_t rows = shape.empty() ? 1 : shape[0];
    return std::vector<Dims>{shape, {rows, 1}, shape};
  };
  return op;
}

const RegisteredOp kOperators[] = {RegisteredOp(scatter_elements()), RegisteredOp(index_put()),
                                   RegisteredOp(scatter_nd_update())};

}  // namespace

}  // namespace opbench
