// Products of matrices by groups: the experts of a model, each with its tokens.
#include "ops/grouped_matmul.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "ops/elementwise.h"
#include "ops/experts.h"
#include "ops/integers.h"
#include "ops/matmul.h"
#include "ops/movement.h"
#include "tensor/error.h"

namespace opbench {
namespace {

constexpr std::string_view kName = "grouped_matmul";
using Of = GroupedMatMul;

void require(bool holds, std::string_view input, const TensorDesc& desc, const Dims& allowed) {
  if (holds) return;
  throw Error(fmt::format("{}: '{}' has shape {}; allowed: {}", kName, input, to_string(desc.shape),
                          to_string(allowed)));
}

std::vector<TensorDesc> infer(std::span<const TensorDesc> inputs, const Attrs& attrs) {
  const TensorDesc &x = inputs[Of::x], &weight = inputs[Of::weight];
  require_rank(kName, "x", x, 2, "[rows, terms]");
  require_rank(kName, "group_list", inputs[Of::groups], 1, "one axis");
  if (weight.shape.size() != 3) {
    require_rank(kName, "weight", weight, 2, "[groups, terms, columns] or [terms, columns]");
  }
  const GroupedMatMul of(inputs, attrs);
  Dims allowed = of.transpose_weight ? Dims{of.n, of.k} : Dims{of.k, of.n};
  if (!of.splits_terms) allowed.insert(allowed.begin(), of.group_count);
  require(weight.shape == allowed, "weight", weight, allowed);
  if (is_given(inputs, Of::bias)) {
    require(inputs[Of::bias].shape == Dims{of.group_count, of.n}, "bias", inputs[Of::bias],
            {of.group_count, of.n});
  }
  return {describe(x.dtype, of.splits_terms ? Dims{of.group_count, of.m, of.n} : Dims{of.m, of.n})};
}

// The end of each group.
std::vector<std::int64_t> ends_of(const InputReader& groups, bool are_counts) {
  std::vector<std::int64_t> ends = groups.read_index();
  for (std::size_t e = 1; are_counts && e < ends.size(); ++e)
    ends[e] = integer_sum(ends[e], ends[e - 1]);
  return ends;
}

// Products are read on demand: a reference of all would need the time of the whole product.
Reference reference(std::span<const InputReader> inputs, const Attrs& attrs) {
  const std::vector<TensorDesc> descs = descs_of(inputs);
  const GroupedMatMul of(descs, attrs);
  const std::vector<std::int64_t> ends = ends_of(inputs[Of::groups], of.are_counts);
  const std::vector<double> x = inputs[Of::x].read_all(), weight = inputs[Of::weight].read_all();
  const std::vector<double> bias =
      is_given(inputs, Of::bias) ? inputs[Of::bias].read_all() : std::vector<double>();
  // Elements are `step` apart from term to term, and `next` from row to row or column to column.
  const std::int64_t x_step = of.transpose_x ? of.m : 1, x_next = of.transpose_x ? 1 : of.k;
  const std::int64_t step = of.transpose_weight ? 1 : of.n, next = of.transpose_weight ? of.k : 1;
  return [=](std::size_t, ElementRange range, std::span<double> to) {
    for (std::int64_t i = 0; i < range.count; ++i) {
      const std::int64_t element = range.first + i, column = element % of.n;
      const std::int64_t row = element / of.n % of.m;
      const std::int64_t group =
          of.splits_terms ? element / of.n / of.m
                          : std::upper_bound(ends.begin(), ends.end(), row) - ends.begin();
      const std::int64_t begin =
          of.splits_terms && group > 0 ? ends[static_cast<std::size_t>(group - 1)] : 0;
      const std::int64_t end = of.splits_terms ? ends[static_cast<std::size_t>(group)] : of.k;
      const double* const a = x.data() + row * x_next;
      const double* const w =
          weight.data() + (of.splits_terms ? 0 : group * of.k * of.n) + column * next;
      double sum = 0;
      for (std::int64_t p = begin; p < end; ++p) sum += a[p * x_step] * w[p * step];
      if (!bias.empty()) sum += bias[static_cast<std::size_t>(group * of.n + column)];
      to[static_cast<std::size_t>(i)] = sum;
    }
  };
}

Traffic traffic(const Problem& problem) {
  const GroupedMatMul of(problem.inputs, problem.attrs);
  Traffic traffic = movement_traffic(problem);
  traffic.operations = 2 * double(of.m) * double(of.n) * double(of.k);
  if (is_given(problem.inputs, Of::bias))
    traffic.operations += double(problem.outputs[0].elements());
  return traffic;
}

// Rows after the last group would be undefined.
void check(const Problem& problem, std::span<const InputReader> inputs) {
  const GroupedMatMul of(problem.inputs, problem.attrs);
  std::int64_t last = 0;
  for (const std::int64_t end : ends_of(inputs[Of::groups], of.are_counts)) {
    if (end < last) {
      throw Error(fmt::format("{}: 'group_list' ends a group at {} after {}; allowed: ascending",
                              kName, end, last));
    }
    last = end;
  }
  if (last != of.split_extent()) {
    throw Error(fmt::format("{}: 'group_list' has {} {} of 'x'; allowed: all {}", kName, last,
                            of.splits_terms ? "columns" : "rows", of.split_extent()));
  }
}

GradientCall product(const Problem& forward, GradientArg x, GradientArg weight, bool transpose_x,
                     bool transpose_weight, std::size_t of_input) {
  const std::pair<std::string_view, AttrValue> values[] = {
      {"group_list_type", forward.attrs.integer("group_list_type")},
      {"transpose_x", transpose_x},
      {"transpose_weight", transpose_weight}};
  return {
      kName, {x, weight, {GradientArg::input, Of::groups}}, {of_input}, attrs_with(kName, values)};
}

// dx = dy*weight^T by groups of rows, dweight[e] = x^T*dy over the rows of each group.
std::vector<GradientCall> gradient(const Problem& forward) {
  const GroupedMatMul of(forward.inputs, forward.attrs);
  if (of.splits_terms || of.transpose_x || is_given(forward.inputs, Of::bias)) {
    throw Error(fmt::format(
        "{}: the gradient takes groups of rows, an x that is not transposed, and no bias", kName));
  }
  const GradientArg dy{GradientArg::output_gradient, 0}, x{GradientArg::input, Of::x},
      weight{GradientArg::input, Of::weight};
  const bool is_transposed = of.transpose_weight;
  return {product(forward, dy, weight, false, !is_transposed, Of::x),
          is_transposed ? product(forward, dy, x, true, false, Of::weight)
                        : product(forward, x, dy, true, false, Of::weight)};
}

// Groups of one size. Cases choose extents that are multiples of the number of groups.
Distribution groups_data(const Problem& problem) {
  const GroupedMatMul of(problem.inputs, problem.attrs);
  const double size = double(of.split_extent() / std::max<std::int64_t>(1, of.group_count));
  if (of.are_counts) return {DistributionKind::constant, size, 0};
  return {DistributionKind::arange, size, size};
}

Distribution weights_of_terms(const Problem& problem) {
  return weight_data(GroupedMatMul(problem.inputs, problem.attrs).k);
}

std::vector<Dims> inputs_like(const Dims& shape, const Attrs& attrs) {
  if (shape.size() != 2) return {shape, shape, {1}};
  const std::int64_t rows = shape[attrs.flag("transpose_x") ? 1 : 0];
  const std::int64_t terms = shape[attrs.flag("transpose_x") ? 0 : 1];
  const std::int64_t groups = rows % 3 == 0 ? 3 : rows % 2 == 0 ? 2 : 1;
  const std::int64_t columns = std::min<std::int64_t>(terms, 64);
  Dims weight = {groups, terms, columns};
  if (attrs.flag("transpose_weight")) std::swap(weight[1], weight[2]);
  return {shape, weight, {groups}};
}

const RegisteredOp registered{{
    .name = kName,
    .ir_name = "npu_grouped_matmul",
    .summary = "y = x*weight[e] + bias[e] for the rows of each group e; with a weight of two axes "
               "y[e] = x*weight over the terms of each group",
    .source = "torch_npu npu_grouped_matmul, torch._grouped_mm; CANN GroupedMatmul",
    .known_as = {.calls = {{"_grouped_mm", "self, mat2, offs, bias?", "result|out"},
                           {"npu_grouped_matmul, GroupedMatmul",
                            "x/x_0|x, weight/weight_0|weight, group_list, bias/bias_0|bias?",
                            "y/y_0|y|result",
                            {.attrs = "group_list_type, transpose_x, transpose_weight",
                             .where = "group_list_type: 0 1, group_type: 0 2, act_type: 0, "
                                      "x/x_1:, weight/weight_1:, scale/scale_0:, "
                                      "antiquant_scale/antiquant_scale_0:"}}},
                 .profiled = {{"GroupedMatmul", "x, weight, bias, , , , , group_list", "y"}}},
    .inputs = {{"x", "x", {}, unit_data},
               {"weight", "weight", {}, weights_of_terms},
               {.name = "group_list", .dtypes = {DType::int64, DType::int32}, .data = groups_data},
               {.name = "bias",
                .dtypes = {DType::fp32, DType::fp16, DType::bf16},
                .data = unit_data}},
    .outputs = {{"y"}},
    .optional_inputs = 1,
    .attrs = {{"group_list_type", std::int64_t{0}, "group_list has 0 running totals, 1 counts",
               [](const AttrValue& value) -> std::string {
                 const auto type = std::get<std::int64_t>(value);
                 return type == 0 || type == 1 ? "" : "it must be 0 or 1";
               }},
              {"transpose_x", false, "x is stored with its axes exchanged"},
              {"transpose_weight", false, "the weight is stored with its last two axes exchanged"}},
    .dtypes = kArithmeticDTypes,
    .formats = kPlainFormats,
    .infer = infer,
    .reference = reference,
    .traffic = traffic,
    .gradient = gradient,
    .inputs_like = inputs_like,
    .check_values = check,
    .mixing = Mixing::sums,
}};

}  // namespace

GroupedMatMul::GroupedMatMul(std::span<const TensorDesc> inputs, const Attrs& attrs)
    : splits_terms(inputs[weight].shape.size() == 2),
      are_counts(attrs.integer("group_list_type") == 1),
      transpose_x(attrs.flag("transpose_x")),
      transpose_weight(attrs.flag("transpose_weight")),
      group_count(inputs[groups].elements()),
      m(inputs[x].shape[transpose_x ? 1 : 0]),
      n(inputs[weight].shape[inputs[weight].shape.size() - (transpose_weight ? 2 : 1)]),
      k(inputs[x].shape[transpose_x ? 0 : 1]) {}

}  // namespace opbench
